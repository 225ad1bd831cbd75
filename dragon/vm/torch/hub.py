"""Entry points of repositories, from folders on this machine; and weights, from the cache or the network."""
import hashlib
import importlib.util
import os
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

from dragon.core import files
from dragon.core.progress import Progress, length_of

# Libraries take these from here.
urlparse, urlopen, Request = urllib.parse.urlparse, urllib.request.urlopen, urllib.request.Request
HTTPError = urllib.error.HTTPError

MODULE_HUBCONF = "hubconf.py"
VAR_DEPENDENCY = "dependencies"
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
READ_DATA_CHUNK = 128 * 1024
_folder = None


def _get_torch_home():
    """Return the folder that PyTorch keeps files in."""
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir():
    """Return the folder of downloaded files."""
    return os.path.join(_get_torch_home(), "hub") if _folder is None else _folder


def set_dir(d):
    """Set the folder of downloaded files."""
    global _folder
    _folder = os.path.expanduser(os.fspath(d))


def _require_local(who, repo, source):
    """Return a folder of a repository, or raise: repositories are not fetched here."""
    if source not in ("github", "local"):
        raise ValueError(f"{who}: got source={source!r}, expected 'github' or 'local'")
    if source == "local":
        return os.path.expanduser(repo)
    owner, _, name = repo.partition(":")[0].partition("/")
    branch = repo.partition(":")[2]
    for ref in (branch,) if branch else ("main", "master"):
        cached = os.path.join(get_dir(), "_".join((owner, name, ref.replace("/", "_"))))
        if os.path.isdir(cached):
            return cached
    raise NotImplementedError(f"{who}: got the GitHub repository {repo!r}, expected one in the cache ({get_dir()}) or "
                              "source='local': Dragon downloads no code; clone it and name its folder")


def _import_module(name, path):
    """Return a file as a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Entries:
    """The module of a repository's entry points, with its folder in the path meanwhile."""

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        sys.path.insert(0, self.folder)
        module = _import_module(MODULE_HUBCONF, os.path.join(self.folder, MODULE_HUBCONF))
        missing = [name for name in getattr(module, VAR_DEPENDENCY, None) or ()
                   if importlib.util.find_spec(name) is None]
        if missing:
            raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
        return module

    def __exit__(self, *_):
        sys.path.remove(self.folder)


def _entry(module, name):
    """Return an entry point."""
    if not isinstance(name, str):
        raise ValueError(f"hub: got {name!r} as a model, expected a text")
    found = getattr(module, name, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return found


def list(github, force_reload=False, skip_validation=False, trust_repo=None, verbose=True):  # noqa: A001
    """Return the names of a repository's entry points."""
    with _Entries(_require_local("hub.list", github, "local" if os.path.isdir(github) else "github")) as module:
        return [name for name in dir(module) if callable(getattr(module, name)) and not name.startswith("_")]


def help(github, model, force_reload=False, skip_validation=False, trust_repo=None):  # noqa: A001
    """Return an entry point's docstring."""
    with _Entries(_require_local("hub.help", github, "local" if os.path.isdir(github) else "github")) as module:
        return _entry(module, model).__doc__


def load(repo_or_dir, model, *args, source="github", trust_repo=None, force_reload=False, verbose=True,
         skip_validation=False, **kwargs):
    """Return what an entry point of a repository makes."""
    with _Entries(_require_local("hub.load", repo_or_dir, source)) as module:
        return _entry(module, model)(*args, **kwargs)


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Fetch a file, verify the start of its SHA-256 and put it in its place at once."""
    path, digest = os.path.abspath(os.path.expanduser(dst)), hashlib.sha256()
    with files.rewriting(path) as file, _opened(url) as source, Progress(
            total=length_of(source), what=os.path.basename(path), unit="B", shown=progress) as line:
        while chunk := source.read(READ_DATA_CHUNK):
            file.write(chunk)
            digest.update(chunk)
            line.update(len(chunk))
        if hash_prefix is not None and not digest.hexdigest().startswith(hash_prefix):
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")')


def _opened(url):
    try:
        return urllib.request.urlopen(urllib.request.Request(url, headers={"User-Agent": "dragon"}))
    except urllib.error.HTTPError:
        raise
    except urllib.error.URLError as error:
        raise urllib.error.URLError(f"download: got no connection to {url} ({error.reason}), expected the network or "
                                    f"the file in {get_dir()}") from error


def load_state_dict_from_url(url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None,
                             weights_only=False):
    """Return what a file of the network holds; it is fetched once."""
    from dragon.vm.torch.serialization import load as load_file
    model_dir = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(model_dir, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(model_dir, name)
    if not os.path.exists(path):
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, found and found.group(1), progress)
    return load_file(path, map_location=map_location, weights_only=weights_only)


load_url = load_state_dict_from_url
