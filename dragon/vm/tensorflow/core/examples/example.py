"""`tf.train.Example` and what it is made of: the records that TFRecord files usually hold."""
from dragon.vm.shared.files.messages import make_message
from dragon.vm.shared.files.protobuf import Field

BytesList = make_message("BytesList", "A list of byte strings.", value=Field(1, "bytes", True))
FloatList = make_message("FloatList", "A list of float32 numbers.", value=Field(1, "float", True))
Int64List = make_message("Int64List", "A list of int64 numbers.", value=Field(1, "int64", True))
Feature = make_message(
    "Feature", "One of three kinds of lists.", bytes_list=Field(1, BytesList, oneof="kind"),
    float_list=Field(2, FloatList, oneof="kind"), int64_list=Field(3, Int64List, oneof="kind"))
Features = make_message("Features", "Features by name.", feature=Field(1, Feature, mapped=True))
FeatureList = make_message("FeatureList", "A sequence of features.", feature=Field(1, Feature, True))
FeatureLists = make_message("FeatureLists", "Sequences of features by name.",
                            feature_list=Field(1, FeatureList, mapped=True))
Example = make_message("Example", "The features of one sample.", features=Field(1, Features))
SequenceExample = make_message("SequenceExample", "The features of one sample and of each of its steps.",
                               context=Field(1, Features), feature_lists=Field(2, FeatureLists))
for _kind in (BytesList, FloatList, Int64List, Feature, Features, FeatureList, FeatureLists, Example, SequenceExample):
    _kind.__module__ = __name__
