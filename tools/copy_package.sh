# Copy the package beside a build of its own: copy_package.sh FOLDER, where FOLDER/dragon has that build's libraries.
# A copy, not links: behind a link, what lies beside the package would be the checkout's. Tests read messages of core.
set -eu
ln -sfn "$PWD/core" "$1/core"
for item in dragon/*; do
  case "${item#dragon/}" in
    lib | _C*.so | __pycache__) ;;
    *) rm -rf "${1:?}/$item" && cp -r "$item" "$1/$item" ;;
  esac
done
