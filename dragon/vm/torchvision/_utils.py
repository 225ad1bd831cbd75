"""Small helpers of several rooms: strings as enums, words for messages."""
import enum


class StrEnumMeta(enum.EnumMeta):
    """Find members by their names as strings."""

    auto = enum.auto

    def from_str(self, member):
        """Return the member of this name."""
        try:
            return self[member]
        except KeyError:
            raise ValueError(f"Unknown value '{member}' for {self.__name__}; expected one of "
                             f"{', '.join(self.__members__)}.") from None


class StrEnum(enum.Enum, metaclass=StrEnumMeta):
    """An enum whose members can be found by their names."""


def sequence_to_str(seq, separate_last=""):
    """Return quoted words joined by commas, the last behind a word of its own."""
    words = [f"'{word}'" for word in seq]
    if not words:
        return ""
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])}{',' if len(words) > 2 or not separate_last else ''} {separate_last}{words[-1]}"
