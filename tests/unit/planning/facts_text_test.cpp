// Facts as people read them.
#include "planning/facts_text.h"

#include "facts_cases.h"
#include "planning/facts_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::facts_of_spec;
using testing_support::FactsUnderTest;

TEST(FactsText, ValuesHaveUnitsAndShortForms) {
  const FactsUnderTest found = facts_of_spec("s-2.1:4/64");
  const auto shown = [&](const char* key) { return shown_value(found.at(key)); };
  EXPECT_EQ(shown("params.total"), "118B");
  EXPECT_EQ(shown("params.active"), "8B");
  EXPECT_EQ(shown("params.counted_total"), "117,561,977,600 (117.6B)");
  EXPECT_EQ(shown("params.counted_largest_layer"), "2,489,285,120 (2.489B)");
  EXPECT_EQ(shown("params.counted_embedding"), "616,562,688 (616.6M)");
  EXPECT_EQ(shown("attn.window"), "512 tokens");
  EXPECT_EQ(shown("shape.d_model"), "3,072");
  EXPECT_EQ(shown("shape.tied_embeddings"), "no");
  EXPECT_EQ(shown("moe.renormalize"), "yes");
  EXPECT_EQ(shown("norm.epsilon"), "1e-06");
  EXPECT_EQ(shown("moe.sparsity"), "25.6");
  EXPECT_EQ(shown("train.tokens"), "Not disclosed");
  EXPECT_EQ(shown("kv.bytes_at_context"), "6,517,948,416 bytes (6.07 GiB)");
  EXPECT_EQ(shown("kv.bytes_per_token"), "49,728 bytes");
  EXPECT_EQ(shown("context.advertised"), "1,048,576 tokens");
  EXPECT_EQ(shown_value(facts_of_spec("m.1:4/64").at("attn.window")), "-");
  EXPECT_EQ(shown_value(facts_of_spec("s-2.1:4/64", {1000, KvStorage::bf16}).at("kv.bytes_per_token")), "124,649.47 bytes");
}

TEST(FactsText, SourcesSayWhere) {
  const FactsUnderTest found = facts_of_spec("s-2.1:4/64");
  EXPECT_EQ(shown_source(found.at("shape.layers")), "config /num_hidden_layers");
  EXPECT_EQ(shown_source(found.at("params.total")), "published: model card");
  EXPECT_EQ(shown_source(found.at("shape.aspect")), "calc: 3,072 / 48");
  EXPECT_EQ(shown_source(found.at("params.counted_total")), "headers: tensor headers");
  EXPECT_EQ(shown_source(found.at("train.tokens")), "");
}

TEST(FactsText, TheTableHasEveryFactIn100Columns) {
  for (const char* spec : {"s-2.1:4/64", "m.1:4/64", "mini:4/64"}) {
    const FactsUnderTest found = facts_of_spec(spec);
    const std::string table = facts_table(found.facts, true);
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
    for (const Fact& fact : found.facts) EXPECT_THAT(table, HasSubstr(fact.label.substr(0, 20))) << fact.key;
  }
  const std::string table = facts_table(facts_of_spec("s-2.1:4/64").facts, false);
  EXPECT_THAT(table, HasSubstr("    note: the card says about 8B\n"));
  EXPECT_EQ(table.find("counts:"), std::string::npos);
}

TEST(FactsText, MarkdownHasARowForEachFact) {
  const FactsUnderTest found = facts_of_spec("s-2.1:4/64");
  const std::string text = facts_markdown(found.facts, false);
  for (const Fact& fact : found.facts) EXPECT_THAT(text, HasSubstr("| `" + fact.key + "` |"));
  EXPECT_THAT(text, HasSubstr("| layers | `shape.layers` | 48 | config /num\\_hidden\\_layers |  |\n"));
  EXPECT_THAT(text, HasSubstr("## KV cache\n"));
}

TEST(FactsText, MarkdownHoldsAnyText) {
  EXPECT_EQ(escape_markdown("a|b\n<c> & `d` *e* _f_ [g](h) \\"), "a\\|b &lt;c&gt; &amp; \\`d\\` \\*e\\* \\_f\\_ \\[g\\](h) \\\\");
  EXPECT_EQ(escape_markdown("x\xff"), "x\xef\xbf\xbd");
}

TEST(FactsText, LongWordsAreBrokenBehindSlashes) {
  EXPECT_EQ(wrapped_cells("* ", {"ab", "/one/two/three"}, {4, 8}), "* ab    /one\n        /two\n        /three\n");
  EXPECT_EQ(wrapped_cells("", {"abcdef", ""}, {4, 3}), "abcd\nef\n");
  EXPECT_EQ(wrapped_cells("", {"two words"}, {5}), "two\nwords\n");
}

TEST(FactsText, CountsAreShortened) {
  EXPECT_EQ(short_count(117561977600.0), "117.6B");
  EXPECT_EQ(short_count(8e9), "8B");
  EXPECT_EQ(short_count(6960000), "6.96M");
  EXPECT_EQ(short_count(999), "999");
  EXPECT_EQ(short_count(2.5e12), "2.5T");
}

TEST(FactsText, ScopesAreTheOnesThatComeClosest) {
  const ParameterCounts counts{
      .total = 1000, .embedding = 200, .head = 100, .nonembedding = 800, .largest_layer = 1, .largest_at = 0, .active_nonembedding = 300};
  EXPECT_EQ(match_total(counts, 990).scope, "backbone");
  EXPECT_EQ(match_total(counts, 810).scope, "without embedding and head");
  EXPECT_EQ(match_active(counts, 310).scope, "non-embedding");
  EXPECT_EQ(match_active(counts, 390).scope, "with output head");
  EXPECT_EQ(match_active(counts, 520).scope, "with embedding and head");
  EXPECT_TRUE(match_total(counts, 1050).reproduces());
  EXPECT_FALSE(match_total(counts, 1060).reproduces());
}

}  // namespace
}  // namespace lagoon
