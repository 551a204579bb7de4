#include "laguna/rotary.h"

#include "base/portable_math.h"

#include <algorithm>
#include <cmath>

namespace lagoon {
namespace {

constexpr double pi = 3.14159265358979323846;

/// Of the pair index at which a wave of the original context turns `turns` times:
/// d ln(original / (2 pi turns)) / (2 ln theta).
double pair_of_turns(const RotaryConfig& config, double turns) {
  return config.dimensions * natural_log(config.original_context / (turns * 2 * pi)) / (2 * natural_log(config.theta));
}

std::vector<float> plain_waves(const RotaryConfig& config) {
  std::vector<float> waves;  // theta^(2i / d)
  for (int i = 0; i < config.dimensions / 2; ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(config.dimensions);
    waves.push_back(static_cast<float>(exponential(static_cast<double>(exponent) * natural_log(config.theta))));
  }
  return waves;
}

}  // namespace

Rotary::Rotary(const RotaryConfig& config) : attention_factor_(static_cast<float>(config.yarn ? config.attention_factor : 1.0)) {
  const std::vector<float> waves = plain_waves(config);
  if (!config.yarn) {
    for (const float wave : waves) frequencies_.push_back(1.0f / wave);
    return;
  }
  // Fast waves (below `low`) keep their frequency, slow ones (above `high`) are stretched by the factor, a ramp between.
  const double low = std::max(std::floor(pair_of_turns(config, config.beta_fast)), 0.0);
  double high = std::min(std::ceil(pair_of_turns(config, config.beta_slow)), config.dimensions - 1.0);
  if (low == high) high += 0.001;
  for (size_t i = 0; i < waves.size(); ++i) {
    const float place = (static_cast<float>(i) - static_cast<float>(low)) / static_cast<float>(high - low);
    const float keep = 1.0f - std::clamp(place, 0.0f, 1.0f);
    const float plain = 1.0f / waves[i];
    const float stretched = 1.0f / (static_cast<float>(config.factor) * waves[i]);
    frequencies_.push_back(stretched * (1.0f - keep) + plain * keep);
  }
}

void Rotary::angles(int64_t position, float* cos, float* sin) const {
  for (size_t i = 0; i < frequencies_.size(); ++i) {
    const float angle = static_cast<float>(position) * frequencies_[i];
    const SineCosine exact = sine_cosine(static_cast<double>(angle));
    cos[i] = static_cast<float>(exact.cosine) * attention_factor_;
    sin[i] = static_cast<float>(exact.sine) * attention_factor_;
  }
}

}  // namespace lagoon
