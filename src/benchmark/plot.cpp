#include "benchmark/plot.h"

#include "base/error.h"

#include <cairo-svg.h>
#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

namespace lagoon {
namespace {

// In points of the picture.
constexpr double width = 760;
constexpr double height = 480;
constexpr double left = 70;
constexpr double right = 24;
constexpr double top = 76;
constexpr double bottom = 56;
constexpr double text_size = 13;

struct Colour {
  double red, green, blue;
};
constexpr Colour ink = {0.15, 0.17, 0.2};
constexpr Colour grid = {0.86, 0.87, 0.89};
constexpr Colour speed_colour = {0.05, 0.42, 0.6};
constexpr Colour bound_colour = {0.75, 0.35, 0.1};

struct Point {
  double depth = 0.0;
  Spread speed;        // tokens per second
  double bound = 0.0;  // tokens per second
};

std::vector<Point> points_of(const SpeedReport& report) {
  std::vector<Point> points;
  for (const SpeedResult& result : report.results) {
    if (result.asked.sequences != 1) continue;
    const Spread& speed = result.generation_tokens_per_second;
    require(speed.least > 0.0 && result.decode_bound_fraction.median > 0.0, "what was measured is above 0");
    points.push_back({static_cast<double>(result.asked.prompt_tokens), speed, speed.median / result.decode_bound_fraction.median});
  }
  if (points.empty()) fail(ErrorKind::invalid, "there is nothing to plot: no prompt was measured to its end");
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.depth < b.depth; });
  return points;
}

/// A round step so that the axis has about six: 1, 2 or 5 times a power of ten.
double round_step(double most) {
  double power = 1e-3;
  while (power * 10 * 6 <= most) power *= 10;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (power * factor * 6 >= most) return power * factor;
  }
  return power * 10;
}

constexpr const char* measured_label = "measured tokens/s: median, least and most";
constexpr const char* bound_label = "bound: memory bandwidth of the same run";

std::string title_line(const SpeedReport& report) { return printable(report.model, 80) + ": generation speed over depth"; }

std::string machine_line(const SpeedReport& report) {
  return fmt::format("{} kernels, {} thread{}, {}", report.kernel_set, report.threads, report.threads == 1 ? "" : "s", printable(report.machine, 60));
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

/// What the picture says, for readers and programs that do not see it: its glyphs are outlines.
std::string description(const SpeedReport& report, const std::vector<Point>& points) {
  std::string text =
      fmt::format("<title>{}</title>\n<desc>{}\n{}; {}\n", escaped(title_line(report)), escaped(machine_line(report)), measured_label, bound_label);
  for (const Point& point : points) {
    text += fmt::format("{:.0f} tokens: {:.2f} ({:.2f} to {:.2f}), bound {:.2f}\n", point.depth, point.speed.median, point.speed.least,
                        point.speed.most, point.bound);
  }
  return text + "</desc>\n";
}

/// Puts `text` behind the opening tag of an SVG's root.
void insert_into_svg(std::vector<std::byte>& svg, const std::string& text) {
  const std::string_view all(reinterpret_cast<const char*>(svg.data()), svg.size());
  const size_t root = all.find("<svg");
  const size_t end = root == std::string_view::npos ? root : all.find(">\n", root);
  require(end != std::string_view::npos, "an SVG has a root");
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  svg.insert(svg.begin() + static_cast<std::ptrdiff_t>(end + 2), bytes.begin(), bytes.end());
}

class Picture {
 public:
  Picture(cairo_t* pen, const std::vector<Point>& points) : pen_(pen), points_(points) {
    for (const Point& point : points) most_ = std::max({most_, point.bound, point.speed.most});
    most_ *= 1.08;
    first_ = std::log2(points.front().depth);
    last_ = std::log2(points.back().depth);
    if (last_ - first_ < 1) {
      first_ -= 0.5;
      last_ += 0.5;
    }
    cairo_select_font_face(pen_, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(pen_, text_size);
  }

  void draw(const SpeedReport& report) {
    set(Colour{1, 1, 1});
    cairo_paint(pen_);
    axes();
    bound();
    speeds();
    text(left, 22, title_line(report), ink);
    text(left, 40, machine_line(report), ink);
    legend();
  }

 private:
  double x(double depth) const { return left + (std::log2(depth) - first_) / (last_ - first_) * (width - left - right); }
  double y(double speed) const { return height - bottom - speed / most_ * (height - top - bottom); }
  void set(const Colour& colour) { cairo_set_source_rgb(pen_, colour.red, colour.green, colour.blue); }

  void line(double x1, double y1, double x2, double y2) {
    cairo_move_to(pen_, x1, y1);
    cairo_line_to(pen_, x2, y2);
    cairo_stroke(pen_);
  }

  void text(double at_x, double at_y, const std::string& words, const Colour& colour, double anchor = 0.0) {
    cairo_text_extents_t extents;
    cairo_text_extents(pen_, words.c_str(), &extents);
    set(colour);
    cairo_move_to(pen_, at_x - anchor * extents.width, at_y);
    cairo_show_text(pen_, words.c_str());
    cairo_new_path(pen_);  // the text's end is no point of the next line
  }

  void axes() {
    cairo_set_line_width(pen_, 1);
    const double step = round_step(most_);
    for (double value = 0; value <= most_; value += step) {
      set(grid);
      line(left, y(value), width - right, y(value));
      text(left - 8, y(value) + 4, fmt::format("{:g}", value), ink, 1.0);
    }
    for (const Point& point : points_) {
      set(grid);
      line(x(point.depth), top, x(point.depth), height - bottom);
      const auto depth = static_cast<int64_t>(point.depth);
      text(x(point.depth), height - bottom + 18, depth % 1024 == 0 ? fmt::format("{}k", depth / 1024) : fmt::format("{}", depth), ink, 0.5);
    }
    text((left + width - right) / 2, height - 14, "tokens before the answer", ink, 0.5);
  }

  template <typename Value>
  void curve(Value&& value) {
    for (const Point& point : points_) cairo_line_to(pen_, x(point.depth), y(value(point)));
    cairo_stroke(pen_);
  }

  void bound() {
    constexpr double dashes[] = {7, 5};
    set(bound_colour);
    cairo_set_line_width(pen_, 1.8);
    cairo_set_dash(pen_, dashes, 2, 0);
    curve([](const Point& point) { return point.bound; });
    cairo_set_dash(pen_, nullptr, 0, 0);
    for (const Point& point : points_) line(x(point.depth) - 5, y(point.bound), x(point.depth) + 5, y(point.bound));
  }

  void speeds() {
    set(speed_colour);
    cairo_set_line_width(pen_, 2.2);
    curve([](const Point& point) { return point.speed.median; });
    for (const Point& point : points_) {
      line(x(point.depth), y(point.speed.least), x(point.depth), y(point.speed.most));
      cairo_arc(pen_, x(point.depth), y(point.speed.median), 3.5, 0, 2 * 3.14159265358979);
      cairo_fill(pen_);
    }
  }

  void legend() {
    text(left, 62, measured_label, speed_colour);
    text(width - right, 62, bound_label, bound_colour, 1.0);
  }

  cairo_t* pen_;
  const std::vector<Point>& points_;
  double most_ = 0.0;   // tokens per second at the top
  double first_ = 0.0;  // log2 of the depths at both ends
  double last_ = 0.0;
};

cairo_status_t append(void* closure, const unsigned char* bytes, unsigned count) {
  auto* out = static_cast<std::vector<std::byte>*>(closure);
  const auto* begin = reinterpret_cast<const std::byte*>(bytes);
  out->insert(out->end(), begin, begin + count);
  return CAIRO_STATUS_SUCCESS;
}

using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;
using Pen = std::unique_ptr<cairo_t, decltype(&cairo_destroy)>;

void check(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS) fail(ErrorKind::io, "the picture cannot be drawn: {}", cairo_status_to_string(status));
}

}  // namespace

std::vector<std::byte> draw_speed_plot(const SpeedReport& report, PictureForm form) {
  const std::vector<Point> points = points_of(report);
  constexpr double pixels_per_point = 2;  // of a PNG
  std::vector<std::byte> bytes;
  const bool svg = form == PictureForm::svg;
  const Surface surface(
      svg ? cairo_svg_surface_create_for_stream(append, &bytes, width, height)
          : cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width * pixels_per_point), static_cast<int>(height * pixels_per_point)),
      cairo_surface_destroy);
  {
    const Pen pen(cairo_create(surface.get()), cairo_destroy);
    if (!svg) cairo_scale(pen.get(), pixels_per_point, pixels_per_point);
    Picture(pen.get(), points).draw(report);
    check(cairo_status(pen.get()));
  }
  if (!svg) check(cairo_surface_write_to_png_stream(surface.get(), append, &bytes));
  cairo_surface_finish(surface.get());
  check(cairo_surface_status(surface.get()));
  if (svg) insert_into_svg(bytes, description(report, points));
  return bytes;
}

}  // namespace lagoon
