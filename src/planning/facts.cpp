#include "planning/facts.h"

#include "base/error.h"
#include "base/utf8.h"
#include "planning/facts_catalogue.h"
#include "planning/facts_sheet.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace lagoon {

ConfigPlaces::ConfigPlaces(const Json& document) : outer_(&document) {
  const auto inner = document.find("text_config");
  if (inner != document.end() && inner->is_object()) inner_ = &*inner;
}

std::optional<ConfigPlaces::Found> ConfigPlaces::find(std::string_view key) const {
  for (const Json* object : {inner_, outer_}) {
    if (object == nullptr) continue;
    const auto found = object->find(key);
    if (found == object->end()) continue;
    if (found->is_null()) return std::nullopt;  // said to be absent, whatever stands around
    return Found{(object == inner_ ? "/text_config/" : "/") + std::string(key), &*found};
  }
  return std::nullopt;
}

FactSource ConfigPlaces::source(std::string_view key) const {
  if (const auto found = find(key)) return {"config", found->pointer, excerpt_of(*found->value)};
  return {"model code", "class default of `" + std::string(key) + "`", ""};
}

double ConfigPlaces::number(std::string_view key, double otherwise) const {
  const auto found = find(key);
  return found && found->value->is_number() ? found->value->get<double>() : otherwise;
}

std::string excerpt_of(const Json& value) {
  constexpr size_t longest = 120;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() <= longest) return text;
  size_t length = 0;
  for (size_t next = 0; next <= longest; next += std::max<size_t>(1, valid_utf8_length(std::string_view(text).substr(next)))) length = next;
  return text.substr(0, length) + "...";
}

Json plain_number(double value) {
  constexpr double exact = 9007199254740992.0;  // 2^53
  if (value == std::floor(value) && std::abs(value) < exact) return static_cast<int64_t>(value);
  return value;
}

Json ratio(double numerator, double denominator) {
  const std::string digits = fmt::format("{:.6g}", numerator / denominator);
  double rounded = 0.0;
  std::from_chars(digits.data(), digits.data() + digits.size(), rounded);
  return plain_number(rounded);
}

void FactSheet::set(std::string_view key, Json value, FactSource source, std::string note) {
  const FactKind* kind = find_fact_kind(key);
  require(kind != nullptr, "a fact is in the catalogue");
  Fact fact{std::string(key),        std::string(kind->group), std::string(kind->label), std::move(value),
            std::string(kind->unit), std::move(source),        std::move(note),          std::string(kind->definition)};
  const bool added = facts_.emplace(std::string(key), std::move(fact)).second;
  require(added, "a fact is found once");
}

const Fact& FactSheet::at(std::string_view key) const {
  const auto found = facts_.find(key);
  require(found != facts_.end(), "a fact is found before another one is calculated from it");
  return found->second;
}

void FactSheet::set_published(std::string_view key) {
  const PublishedStatement* statement = published_ == nullptr ? nullptr : published_->statement(std::string(key));
  if (statement == nullptr) return set(key, nullptr, {"not disclosed", "", ""});
  set(key, statement->value.is_number_float() ? plain_number(statement->value.get<double>()) : statement->value,
      {"published", statement->place, statement->excerpt}, statement->note);
}

void FactSheet::set_confirmed(std::string_view key, Json value, FactSource source) {
  const PublishedStatement* statement = published_ == nullptr ? nullptr : published_->statement(std::string(key));
  if (statement == nullptr) return set(key, std::move(value), std::move(source));
  if (statement->value == value) return set_published(key);
  set(key, std::move(value), std::move(source), "the publisher says " + excerpt_of(statement->value) + " (" + statement->place + ")");
}

std::vector<Fact> FactSheet::finish() {
  std::vector<Fact> facts;
  for (const FactKind& kind : fact_catalogue()) {
    Fact fact = at(kind.key);
    if (published_ != nullptr) {
      const auto note = published_->notes.find(fact.key);
      if (note != published_->notes.end()) fact.note += (fact.note.empty() ? "" : "; ") + note->second;
    }
    facts.push_back(std::move(fact));
  }
  return facts;
}

std::vector<Fact> facts_of(const Checkpoint& checkpoint, const PublishedModel* published, const KvRequest& kv, const std::string& headers) {
  const ConfigPlaces places(checkpoint.document());
  FactSheet sheet(published);
  sheet.set_confirmed("release.modalities", "text", {"model code", "decoder of text tokens, without towers", ""});
  add_config_facts(sheet, checkpoint, places);
  add_attention_facts(sheet, checkpoint, places);
  add_rope_facts(sheet, checkpoint.config(), places);
  for (const FactKind& kind : fact_catalogue()) {
    if (kind.origin == FactOrigin::publisher) sheet.set_published(kind.key);
  }
  add_count_facts(sheet, checkpoint, headers);
  add_kv_facts(sheet, checkpoint.config(), kv);
  return sheet.finish();
}

const Fact* find_fact(std::span<const Fact> facts, std::string_view key) {
  const auto found = std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) { return fact.key == key; });
  return found == facts.end() ? nullptr : &*found;
}

Json to_json(std::span<const Fact> facts) {
  Json list = Json::array();
  for (const Fact& fact : facts) {
    list.push_back({{"key", fact.key},
                    {"group", fact.group},
                    {"label", fact.label},
                    {"value", fact.value},
                    {"unit", fact.unit},
                    {"source", {{"kind", fact.source.kind}, {"place", fact.source.place}, {"excerpt", fact.source.excerpt}}},
                    {"note", fact.note},
                    {"definition", fact.definition}});
  }
  return list;
}

}  // namespace lagoon
