# Print the x86-64 level of this machine (v2, v3 or v4): the only one a build for this machine alone needs.
flags=" $(grep -m1 '^flags' /proc/cpuinfo | cut -d: -f2) "
has() { case "$flags" in *" $1 "*) return 0 ;; *) return 1 ;; esac }
if has avx512f && has avx512bw && has avx512cd && has avx512dq && has avx512vl; then
  echo v4
elif has avx2 && has fma && has bmi2 && has f16c; then
  echo v3
else
  echo v2
fi
