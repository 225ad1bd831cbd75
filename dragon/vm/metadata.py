"""What `importlib.metadata` reads of a guest: who asks for its version gets the one whose behaviour we have."""
import importlib.metadata
import os


class GuestDistribution(importlib.metadata.Distribution):
    """The metadata of an installed package that Dragon stands for."""

    def __init__(self, guest, version):
        self.guest = guest
        self.texts = {
            "METADATA": f"Metadata-Version: 2.1\nName: {guest}\nVersion: {version}\n"
                        f"Summary: {guest}'s API on Dragon's engine\n",
            "top_level.txt": guest + "\n",
            "INSTALLER": "dragon\n",
        }

    def read_text(self, filename):
        """Return the text of a file of the metadata, or None."""
        return self.texts.get(filename)

    def locate_file(self, path):
        """Return where a file of the package would lie."""
        return os.path.join(os.path.dirname(__file__), path)


def make_distribution(guest, version):
    """Return the metadata of a guest."""
    return GuestDistribution(guest, version)
