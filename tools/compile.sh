# Run a compiler, and where it died for want of memory say what would do: `sh tools/compile.sh g++ -c ...`.
# CMake puts this before every call of the compiler, so that the letter comes with `make`, `pip install` and cmake alike.
said=$("$@" 2>&1)
status=$?
if [ -n "$said" ]; then
  printf '%s\n' "$said" >&2
fi
if [ "$status" -eq 0 ]; then
  exit 0
fi
case "$status $said" in
  137\ * | *"Killed signal"* | *"out of memory"* | *"annot allocate memory"* | *"memory exhausted"*)
    cat >&2 <<'LETTER'

dragon: got a compiler that was ended for want of memory, expected about 1.5 GiB for each that runs at a time.
  One at a time needs least:  make install JOBS=1   or   CMAKE_BUILD_PARALLEL_LEVEL=1 pip install .
  What compiles smaller files: -C cmake.define.DRAGON_UNITY=OFF (pip), -DDRAGON_UNITY=OFF (cmake), or `make build`.
  What is compiled already is kept, if the same command is given again in a checkout.
LETTER
    ;;
esac
exit "$status"
