// plot.h: generation speed over depth as a picture, with the bound as a line.
#pragma once

#include "benchmark/report.h"

#include <cstddef>
#include <vector>

namespace lagoon {

enum class PictureForm { svg, png };

/// One point for each depth of one sequence: the median as a line, the extremes as a bar, the bound of the same run as a
/// dashed line. The scale of depths is logarithmic. @throws Error(invalid) if there is no depth to draw, Error(io)
std::vector<std::byte> draw_speed_plot(const SpeedReport& report, PictureForm form);

}  // namespace lagoon
