"""keras.preprocessing.text: texts as numbers of words."""
from dragon.vm.guest import lookup

__getattr__, __dir__ = lookup(globals(), {
    "legacy.preprocessing.text": "Tokenizer hashing_trick one_hot text_to_word_sequence tokenizer_from_json",
})
