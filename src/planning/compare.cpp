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

Fact other_fact(std::string key, std::string_view group, std::string label, Json value, std::string unit, FactSource source, std::string definition) {
  return {std::move(key), std::string(group), std::move(label), std::move(value), std::move(unit), std::move(source), "", std::move(definition)};
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

StoredWeights stored_weights(const Checkpoint& checkpoint, const std::string& headers) {
  return {checkpoint.weight_bytes(), weight_formats(checkpoint), {"headers", headers, ""}};
}

ComparedModel compared_model(std::string name, std::string kind, const Checkpoint& checkpoint, const PublishedModel* published, const KvRequest& kv,
                             const StoredWeights& stored, const std::string& headers) {
  ComparedModel model{std::move(name), std::move(kind), facts_of(checkpoint, published, kv, headers), stored.bytes, nullptr, nullptr};
  // Models whose contexts differ are compared at contexts that differ: that must be seen.
  const std::string_view group = "KV cache";
  const FactSource asked{"calc", "--context and --kv; without --context the checkpoint's own, at most 131,072", ""};
  model.facts.push_back(other_fact("compare.kv_context", group, "KV figures are at", kv_cost(checkpoint.config(), kv).context, "tokens", asked,
                                   "the context of the KV figures above"));
  model.facts.push_back(other_fact("compare.kv_storage", group, "KV figures are for", std::string(name_of(kv.storage)), "", asked,
                                   "the storage of the KV figures above"));
  model.facts.push_back(other_fact("checkpoint.weight_bytes", stored_group, "weights as stored", stored.bytes ? Json(*stored.bytes) : Json(), "bytes",
                                   stored.source, "bytes of all weights in their files, scales and biases included"));
  model.facts.push_back(other_fact("checkpoint.formats", stored_group, "formats of the weights", stored.formats, "", stored.source,
                                   "formats by their share of the bytes, or as the publisher names them"));
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
                    {"weight_bytes", model.weight_bytes ? Json(*model.weight_bytes) : Json()},
                    {"memory", model.memory},
                    {"location", model.location}});
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
