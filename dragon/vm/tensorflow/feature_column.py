"""`tf.feature_column`: how what a table holds becomes what a net takes."""
from dragon.vm.tensorflow.core.columns.categories import (  # noqa: F401
    categorical_column_with_hash_bucket, categorical_column_with_identity, categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list, crossed_column, sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity, sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list, weighted_categorical_column)
from dragon.vm.tensorflow.core.columns.making import (  # noqa: F401
    bucketized_column, embedding_column, indicator_column, make_parse_example_spec, numeric_column,
    sequence_numeric_column, shared_embeddings)
