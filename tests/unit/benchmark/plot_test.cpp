// The picture of a report: what it says, and that odd reports are drawn too.
#include "benchmark/plot.h"
#include "support/error_matchers.h"
#include "support/hand_made_report.h"

#include <gmock/gmock.h>

#include <limits>
#include <string>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing_support::expect_error;
using testing_support::hand_made_report;
using testing_support::hand_made_result;

std::string drawn(const SpeedReport& report, PictureForm form) {
  const std::vector<std::byte> bytes = draw_speed_plot(report, form);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Plot, SvgSaysItsFigures) {
  const std::string svg = drawn(hand_made_report(), PictureForm::svg);
  EXPECT_THAT(svg, StartsWith("<?xml"));
  EXPECT_THAT(svg, HasSubstr("<title>somewhere: generation speed over depth</title>"));
  EXPECT_THAT(svg, HasSubstr("scalar kernels, 2 threads, Some Processor"));
  EXPECT_THAT(svg, HasSubstr("1024 tokens: 20.00 (18.00 to 22.00), bound 40.00\n"));
  EXPECT_THAT(svg, HasSubstr("3000 tokens: 10.00 (9.00 to 11.00), bound 20.00\n"));
  EXPECT_THAT(svg, Not(HasSubstr("35.00")));  // several sequences are no depth
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
}

TEST(Plot, PngBeginsWithItsSignature) {
  const std::string png = drawn(hand_made_report(), PictureForm::png);
  EXPECT_THAT(png, StartsWith("\x89PNG\r\n\x1a\n"));
  EXPECT_GT(png.size(), 1000u);
}

TEST(Plot, LinesBeginAtThePoints) {
  // Nothing joins a text's end to a curve: every coordinate of a stroked path lies inside the picture.
  const std::string svg = drawn(hand_made_report(), PictureForm::svg);
  size_t paths = 0;
  for (size_t at = svg.find("stroke-dasharray"); at != std::string::npos; at = svg.find("stroke-dasharray", at + 1)) {
    const size_t data = svg.find(" d=\"", at);
    const std::string path = svg.substr(data + 4, svg.find('"', data + 4) - data - 4);
    EXPECT_EQ(std::count(path.begin(), path.end(), 'L'), 1) << path;  // two depths
    ++paths;
  }
  EXPECT_EQ(paths, 1u);
}

TEST(Plot, OnePointEqualDepthsAndAnyOrderAreDrawn) {
  SpeedReport report = hand_made_report();
  for (const auto& results : {std::vector{hand_made_result(1, 1, 5.0)}, std::vector{hand_made_result(7, 1, 5.0), hand_made_result(7, 1, 6.0)},
                              std::vector{hand_made_result(1 << 20, 1, 1e6), hand_made_result(1, 1, 1e-3)}}) {
    report.results = results;
    const std::string svg = drawn(report, PictureForm::svg);
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
    EXPECT_THAT(drawn(report, PictureForm::png), StartsWith("\x89PNG"));
  }
}

TEST(Plot, NamesAreTextNotMarkup) {
  SpeedReport report = hand_made_report();
  report.model = "<script>&\xff\n";
  EXPECT_THAT(drawn(report, PictureForm::svg), HasSubstr("<title>&lt;script&gt;&amp;\\xff\\x0a: generation"));
}

TEST(Plot, WithoutASingleSequenceThereIsNothingToDraw) {
  SpeedReport report = hand_made_report();
  report.results = {hand_made_result(1024, 2, 5.0)};
  for (const PictureForm form : {PictureForm::svg, PictureForm::png})
    expect_error([&] { draw_speed_plot(report, form); }, ErrorKind::invalid, {"nothing to plot"});
}

}  // namespace
}  // namespace lagoon
