# Print the level of this machine (v2, v3 or v4 of x86-64; generic on 64-bit ARM): the only one a build for it alone needs.
#   sh tools/cpu_level.sh [CPUINFO]      what the system says of the processor; status 1 with a letter where there are no kernels
kind=$(uname -m)
case "$kind" in
  x86_64 | amd64) ;;
  aarch64 | arm64)
    echo generic
    exit 0
    ;;
  *)
    echo "dragon: got a processor of kind '$kind', expected x86_64 or aarch64 (64-bit ARM): there are kernels for no other." >&2
    case "$kind" in
      arm*) echo "  a Raspberry Pi 3 or later runs a 64-bit system, and Dragon on it" >&2 ;;
      i?86) echo "  a 64-bit system on the same machine, if it is younger than some fifteen years" >&2 ;;
    esac
    exit 1
    ;;
esac
flags=" $(grep -m1 '^flags' "${1:-/proc/cpuinfo}" | cut -d: -f2) "
has() { case "$flags" in *" $1 "*) return 0 ;; *) return 1 ;; esac }
if has avx512f && has avx512bw && has avx512cd && has avx512dq && has avx512vl; then
  echo v4
elif has avx2 && has fma && has bmi2 && has f16c; then
  echo v3
else
  echo v2
fi
