#include "planning/compare.h"

#include "base/error.h"
#include "base/utf8.h"
#include "planning/facts_text.h"
#include "planning/inspection.h"

#include <fmt/format.h>

#include <algorithm>

namespace lagoon {
namespace {

constexpr std::string_view stored_group = "checkpoint";

Fact stored_fact(std::string key, std::string label, Json value, std::string unit, std::string definition) {
  return {std::move(key),       std::string(stored_group), std::move(label), std::move(value), std::move(unit), {"headers", "tensor headers", ""}, "",
          std::move(definition)};
}

std::string cell_of(const ComparedModel& model, const ComparedRow& row) {
  const Fact* fact = find_fact(model.facts, row.key);
  return fact == nullptr ? "-" : shown_value(*fact);
}

std::string plain_value(const Fact* fact) {
  if (fact == nullptr) return "";
  if (fact->value.is_null()) return fact->source.kind == "not disclosed" ? "not disclosed" : "";
  if (fact->value.is_boolean()) return fact->value.get<bool>() ? "yes" : "no";
  return fact->value.is_string() ? fact->value.get<std::string>() : fact->value.dump();
}

}  // namespace

std::string weight_formats(const Checkpoint& checkpoint) {
  const std::vector<FormatShare> shares = share_formats(checkpoint);
  uint64_t all = 0;
  for (const FormatShare& share : shares) all += share.bytes;
  std::vector<std::string> parts;
  parts.reserve(shares.size());
  for (const FormatShare& share : shares) {
    parts.push_back(
        fmt::format("{}: {:.1f} %", share.format, 100.0 * static_cast<double>(share.bytes) / static_cast<double>(std::max<uint64_t>(all, 1))));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

ComparedModel compared_model(std::string name, std::string kind, const Checkpoint& checkpoint, const PublishedModel* published, const KvRequest& kv) {
  ComparedModel model{std::move(name), std::move(kind), facts_of(checkpoint, published, kv), checkpoint.weight_bytes(), nullptr};
  model.facts.push_back(stored_fact("checkpoint.weight_bytes", "weights as stored", checkpoint.weight_bytes(), "bytes",
                                    "bytes of all weights in their files, scales and biases included"));
  model.facts.push_back(
      stored_fact("checkpoint.formats", "formats of the weights", weight_formats(checkpoint), "", "formats by their share of the bytes"));
  return model;
}

std::vector<ComparedRow> compared_rows(const std::vector<ComparedModel>& models) {
  require(!models.empty(), "there is something to compare");
  std::vector<ComparedRow> rows;
  for (const Fact& fact : models.front().facts) {
    ComparedRow row{fact.key, fact.group, fact.label, fact.unit, false};
    row.differs = std::any_of(models.begin() + 1, models.end(), [&](const ComparedModel& model) {
      const Fact* other = find_fact(model.facts, fact.key);
      return other == nullptr || other->value != fact.value;
    });
    rows.push_back(std::move(row));
  }
  return rows;
}

Json comparison_json(const std::vector<ComparedModel>& models, const std::string& generator) {
  Json list = Json::array();
  for (const ComparedModel& model : models) {
    list.push_back({{"name", replace_invalid_utf8(model.name)},
                    {"kind", model.kind},
                    {"facts", to_json(model.facts)},
                    {"weight_bytes", model.weight_bytes},
                    {"memory", model.memory}});
  }
  Json rows = Json::array();
  for (const ComparedRow& row : compared_rows(models)) {
    rows.push_back({{"key", row.key}, {"group", row.group}, {"label", row.label}, {"unit", row.unit}, {"differs", row.differs}});
  }
  return {{"generator", generator}, {"models", list}, {"rows", rows}};
}

std::string comparison_table(const std::vector<ComparedModel>& models) {
  constexpr size_t line_width = 100;
  constexpr size_t label_width = 30;
  constexpr size_t least_width = 16;
  const size_t room = (line_width - 2 - label_width) / models.size();
  std::vector<size_t> widths{label_width};
  std::vector<std::string> header{""};
  for (const ComparedModel& model : models) {
    widths.push_back(std::max(room, least_width + 2) - 2);
    header.push_back(printable(model.name));
  }
  std::string text = wrapped_cells("  ", header, widths);
  std::string group;
  for (const ComparedRow& row : compared_rows(models)) {
    if (row.group != group) text += "\n" + row.group + "\n";
    group = row.group;
    std::vector<std::string> cells{row.label};
    for (const ComparedModel& model : models) cells.push_back(cell_of(model, row));
    text += wrapped_cells(row.differs ? "* " : "  ", cells, widths);
  }
  return text + "\n* differs.  - has no value here: `lagoon facts MODEL` says why, and where every value comes from.\n";
}

std::string comparison_markdown(const std::vector<ComparedModel>& models) {
  std::string text = "| fact | key | differs |";
  std::string rule = "|---|---|---|";
  for (const ComparedModel& model : models) {
    text += " " + escape_markdown(model.name) + " |";
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  for (const ComparedRow& row : compared_rows(models)) {
    text += fmt::format("| {}: {} | `{}` | {} |", escape_markdown(row.group), escape_markdown(row.label), row.key, row.differs ? "\\*" : "");
    for (const ComparedModel& model : models) text += " " + escape_markdown(cell_of(model, row)) + " |";
    text += "\n";
  }
  return text;
}

std::vector<std::vector<std::string>> comparison_values(const std::vector<ComparedModel>& models) {
  std::vector<std::vector<std::string>> lines{{"group", "fact", "key", "unit", "differs"}};
  for (const ComparedModel& model : models) lines.front().push_back(model.name);
  for (const ComparedRow& row : compared_rows(models)) {
    lines.push_back({row.group, row.label, row.key, row.unit, row.differs ? "yes" : "no"});
    for (const ComparedModel& model : models) lines.back().push_back(plain_value(find_fact(model.facts, row.key)));
  }
  return lines;
}

}  // namespace lagoon
