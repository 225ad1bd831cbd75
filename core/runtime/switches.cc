// Telling people which switch was turned.
#include "core/runtime/switches.h"

namespace dragon {

std::string Switches::Difference(const Switches& now) const {
  const auto say = [](const char* name, const std::string& before, const std::string& after) {
    return std::string(name) + " was " + before + ", now " + after;
  };
  const auto truth = [](bool value) { return value ? "True" : "False"; };
  const auto name = [](std::optional<DType> dtype) { return std::string(dtype ? Name(*dtype) : "off"); };
  static constexpr const char* kGradModes[] = {"False", "True", "True by a scope"};
  if (grad_enabled != now.grad_enabled) {
    return say("grad mode", kGradModes[grad_enabled], kGradModes[now.grad_enabled]);
  }
  if (anomaly != now.anomaly) return say("anomaly mode", truth(anomaly), truth(now.anomaly));
  if (default_dtype != now.default_dtype) return say("default dtype", name(default_dtype), name(now.default_dtype));
  if (autocast != now.autocast) return say("autocast", name(autocast), name(now.autocast));
  return {};
}

}  // namespace dragon
