#include "checkpoint/safetensors.h"

#include "machine/file.h"
#include "support/checkpoint_builder.h"
#include "support/error_matchers.h"
#include "support/faulty_files.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace lagoon {
namespace {

using testing_support::expect_error;
using testing_support::raw_safetensors;

class Safetensors : public ::testing::Test {
 protected:
  SafetensorsHeader read(const std::string& bytes) {
    testing_support::write_file(path_, bytes);
    return read_safetensors_header(*SystemFiles().open(path_));
  }
  void expect_fault(const std::string& bytes, const std::vector<std::string>& parts, ErrorKind kind = ErrorKind::corrupt) {
    std::vector<std::string> all = parts;
    all.emplace_back("weights.safetensors");
    expect_error([&] { read(bytes); }, kind, all);
  }
  /// One tensor `w` whose entry is as given, with eight bytes of data.
  void expect_entry_fault(const std::string& entry, const std::vector<std::string>& parts, ErrorKind kind = ErrorKind::corrupt) {
    expect_fault(raw_safetensors("{\"w\":" + entry + "}", "12345678"), parts, kind);
  }
  testing_support::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "weights.safetensors";
};

TEST_F(Safetensors, GivesEveryTensorWithItsPlaceInTheFile) {
  const std::string header = R"({"__metadata__":{"format":"pt"},"a":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]},)"
                             R"("b":{"dtype":"U8","shape":[],"data_offsets":[4,5]},"c":{"shape":[0,7],"data_offsets":[5,5],"dtype":"F32"}})";

  const SafetensorsHeader read_back = read(raw_safetensors(header, "12345"));

  ASSERT_EQ(read_back.tensors.size(), 3u);
  EXPECT_EQ(read_back.metadata.at("format"), "pt");
  EXPECT_EQ(read_back.tensors[0].name, "a");
  EXPECT_EQ(read_back.tensors[0].type, StoredType::bf16);
  EXPECT_EQ(read_back.tensors[0].shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(read_back.tensors[0].offset, 8 + header.size());
  EXPECT_EQ(read_back.tensors[0].bytes, 4u);
  EXPECT_TRUE(read_back.tensors[1].shape.empty());
  EXPECT_EQ(read_back.tensors[1].offset, 8 + header.size() + 4);
  EXPECT_EQ(read_back.tensors[2].bytes, 0u);
}

TEST_F(Safetensors, KnowsEveryElementTypeOfTheFormat) {
  for (const char* type :
       {"BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "U16", "I16", "F16", "BF16", "U32", "I32", "F32", "U64", "I64", "F64", "C64"}) {
    const std::string header = fmt::format(R"({{"w":{{"dtype":"{}","shape":[0],"data_offsets":[0,0]}}}})", type);
    EXPECT_EQ(name_of(read(raw_safetensors(header, "")).tensors[0].type), type);
  }
  const auto f4 = read(raw_safetensors(R"({"w":{"dtype":"F4","shape":[3,2],"data_offsets":[0,3]}})", "123"));
  EXPECT_EQ(f4.tensors[0].bytes, 3u);
}

TEST_F(Safetensors, HeaderMayBePaddedWithSpacesAndDataMayHaveGaps) {
  const auto header = read(raw_safetensors(R"({"w":{"dtype":"U8","shape":[2],"data_offsets":[6,8]}}      )", "12345678"));
  EXPECT_EQ(header.tensors[0].bytes, 2u);
}

TEST_F(Safetensors, EmptyFileIsAnIncompleteDownload) { expect_fault("", {"0 bytes", "incomplete"}); }

TEST_F(Safetensors, FileShorterThanItsLengthFieldIsAnIncompleteDownload) { expect_fault("1234567", {"7 bytes", "incomplete"}); }

TEST_F(Safetensors, HeaderLongerThanTheFileIsAnIncompleteDownload) {
  expect_fault(raw_safetensors("{}", "").substr(0, 9), {"2 bytes", "9 bytes", "incomplete"});
}

TEST_F(Safetensors, HeaderLengthIsBoundBeforeAnythingIsAllocated) {
  expect_fault(std::string(8, '\xff') + "{}", {"18,446,744,073,709,551,615 bytes", "100,000,000"});
}

TEST_F(Safetensors, GitLfsPointerIsRecognised) {
  expect_fault("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n", {"git-lfs pointer"});
}

TEST_F(Safetensors, WebPageIsRecognised) { expect_fault("\n<!DOCTYPE html><html>not found</html>", {"a web page"}); }

TEST_F(Safetensors, GgufUnderAnotherNameIsRecognised) { expect_fault(std::string("GGUF\3\0\0\0\0\0\0\0", 12), {"a GGUF file"}); }

TEST_F(Safetensors, HeaderThatIsNoJsonNamesTheByte) { expect_fault(raw_safetensors("{\"w\":}", ""), {"no valid JSON at byte 6"}); }

TEST_F(Safetensors, HeaderThatIsAListIsRefused) { expect_fault(raw_safetensors("[]", ""), {"a list", "an object was expected"}); }

TEST_F(Safetensors, DeepNestingIsRefusedAtTheSecondLevel) {
  expect_fault(raw_safetensors("{\"w\":" + std::string(200000, '['), ""), {"a list where"});
  expect_fault(raw_safetensors("{\"w\":{\"shape\":" + std::string(200000, '['), ""), {"a list where", "`w`"});
}

TEST_F(Safetensors, NameThatIsNotUtf8IsRefused) {
  expect_fault(raw_safetensors("{\"\xff\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", "1"), {"no valid JSON"});
}

TEST_F(Safetensors, UnknownElementTypeIsNamed) {
  expect_entry_fault(R"({"dtype":"F7","shape":[8],"data_offsets":[0,8]})", {"`w`", "`F7`"}, ErrorKind::unsupported);
}

TEST_F(Safetensors, MissingKeyIsRefused) { expect_entry_fault(R"({"dtype":"U8","shape":[8]})", {"`w`", "lacks"}); }

TEST_F(Safetensors, UnknownKeyIsNamed) { expect_entry_fault(R"({"dtype":"U8","shape":[8],"data_offsets":[0,8],"x":1})", {"`w`", "`x`"}); }

TEST_F(Safetensors, KeyTwiceInATensorIsRefused) {
  expect_entry_fault(R"({"dtype":"U8","dtype":"U8","shape":[8],"data_offsets":[0,8]})", {"`w`", "twice"});
}

TEST_F(Safetensors, TensorTwiceIsRefused) {
  const std::string entry = R"("w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  expect_fault(raw_safetensors("{" + entry + "," + R"("w":{"dtype":"U8","shape":[4],"data_offsets":[4,8]})" + "}", "12345678"), {"`w`", "twice"});
}

TEST_F(Safetensors, ShapeThatIsNoListIsRefused) { expect_entry_fault(R"({"dtype":"U8","shape":8,"data_offsets":[0,8]})", {"`w`", "the number 8"}); }

TEST_F(Safetensors, NegativeDimensionIsRefused) { expect_entry_fault(R"({"dtype":"U8","shape":[-8],"data_offsets":[0,8]})", {"`w`", "-8"}); }

TEST_F(Safetensors, FractionalDimensionIsRefused) { expect_entry_fault(R"({"dtype":"U8","shape":[8.0],"data_offsets":[0,8]})", {"`w`", "8.0"}); }

TEST_F(Safetensors, ShapeWhoseProductWrapsAroundIsRefused) {
  expect_entry_fault(R"({"dtype":"U8","shape":[4294967296,4294967297],"data_offsets":[0,8]})", {"`w`", "leaves the range"});
}

TEST_F(Safetensors, ShapeWhoseBytesWrapAroundIsRefused) {
  expect_entry_fault(R"({"dtype":"F64","shape":[2305843009213693953],"data_offsets":[0,8]})", {"`w`", "leaves the range"});
}

TEST_F(Safetensors, OneByteLessThanTheShapeNeedsIsRefused) {
  expect_entry_fault(R"({"dtype":"F32","shape":[2],"data_offsets":[0,7]})", {"`w`", "F32 [2]", "8 bytes", "7 bytes"});
}

TEST_F(Safetensors, AMissingByteIsTold) {
  expect_fault(raw_safetensors(R"({"w":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})", "1234567"), {"1 byte is missing up to"});
  expect_fault(raw_safetensors("{}", "").substr(0, 9), {"the header claims 2 bytes, the file has 9 bytes in all, at least 1 byte is missing"});
}

TEST_F(Safetensors, LongTextsAndNumbersAreRefusedUnread) {
  const std::string digits(70'000, '1');
  expect_fault(raw_safetensors("{\"w\":{\"shape\":[" + digits + "]}}", ""), {"a number in the JSON has 70,000 bytes, at most 65,536"});
  expect_fault(raw_safetensors("{\"w\":" + digits, ""), {"a number in the JSON has 70,000 bytes"});
  std::string escaped = "{\"";
  while (escaped.size() < (17u << 20)) escaped += R"(\"\\)";
  expect_fault(raw_safetensors(escaped + "\":{}}", ""), {"a text in the JSON has 17,825,7", "at most 16,777,216"});
  EXPECT_EQ(read(raw_safetensors("{" + std::string(100'000, ' ') + "}", "")).tensors.size(), 0u);
}

TEST_F(Safetensors, EndBeforeBeginIsRefused) {
  expect_entry_fault(R"({"dtype":"U8","shape":[0],"data_offsets":[8,0]})", {"`w`", "begins at byte 8"});
}

TEST_F(Safetensors, OffsetThatWrapsAroundIsRefused) {
  expect_entry_fault(R"({"dtype":"U8","shape":[8],"data_offsets":[18446744073709551600,18446744073709551608]})", {"`w`", "leaves the range"});
}

TEST_F(Safetensors, OffsetsOfAnotherCountAreRefused) {
  expect_entry_fault(R"({"dtype":"U8","shape":[8],"data_offsets":[0]})", {"`w`", "two numbers"});
  expect_entry_fault(R"({"dtype":"U8","shape":[8],"data_offsets":[0,8,9]})", {"`w`", "the number 9"});
}

TEST_F(Safetensors, TensorsThatOverlapAreBothNamed) {
  expect_fault(
      raw_safetensors(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})", "12345678"),
      {"`a` and `b` overlap"});
}

TEST_F(Safetensors, FileThatEndsOneByteEarlyNamesTheTensorAndTheMissingBytes) {
  expect_entry_fault(R"({"dtype":"U8","shape":[9],"data_offsets":[0,9]})", {"`w`", "1 byte", "the download is incomplete"});
}

TEST_F(Safetensors, PipeIsRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  expect_error([&] { read_safetensors_header(*SystemFiles().open(path_)); }, ErrorKind::invalid, {"a pipe"});
}

TEST_F(Safetensors, EveryReadMayFail) {
  const std::string bytes = raw_safetensors(R"({"w":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})", "12345678");
  testing_support::write_file(path_, bytes);
  int fault = 1;
  for (;; ++fault) {
    const testing_support::FaultyFiles files(fault);
    try {
      read_safetensors_header(*files.open(path_));
      break;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
    }
  }
  EXPECT_EQ(fault, 4);  // one opening, two readings
}

TEST_F(Safetensors, HundredsOfThousandsOfTensorsAreReadInOrder) {
  std::string header = "{";
  constexpr int count = 300000;
  for (int at = 0; at < count; ++at)
    header += fmt::format(R"({}"t{}":{{"dtype":"U8","shape":[1],"data_offsets":[{},{}]}})", at == 0 ? "" : ",", at, at, at + 1);
  header += "}";

  const SafetensorsHeader read_back = read(raw_safetensors(header, std::string(count, 'x')));

  ASSERT_EQ(read_back.tensors.size(), static_cast<size_t>(count));
  EXPECT_EQ(read_back.tensors.back().name, "t299999");
}

TEST_F(Safetensors, MetadataIsBoundedAndStandsOnce) {
  const auto metadata = [](size_t entries, size_t bytes) {
    std::string text;
    for (size_t i = 0; i < entries; ++i) text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":\"" + std::string(bytes, 'x') + "\"";
    return raw_safetensors("{\"__metadata__\":{" + text + "}}", "");
  };
  EXPECT_EQ(read(metadata(10'000, 1)).metadata.size(), 10'000u);
  expect_fault(metadata(10'001, 1), {"`__metadata__` has more than 10,000 entries"});
  expect_fault(metadata(17, 1 << 20), {"`__metadata__` has more than"});
  expect_fault(raw_safetensors(R"({"__metadata__":{},"__metadata__":{}})", ""), {"`__metadata__` stands twice"});
}

TEST_F(Safetensors, WhatWasExpectedIsSaid) {
  expect_entry_fault(R"({"dtype":["F32"],"shape":[2],"data_offsets":[0,8]})", {"holds a list where `dtype` was to be a text, at tensor `w`"});
  expect_entry_fault(R"({"dtype":"F32","shape":{},"data_offsets":[0,8]})", {"holds an object where `shape` was to be a list of whole numbers"});
  expect_entry_fault(R"({"dtype":"F32","shape":["2"],"data_offsets":[0,8]})", {"holds a text where `shape` was to be a list of whole numbers"});
  expect_entry_fault(R"({"dtype":"F32","shape":[2],"data_offsets":8})", {"where `data_offsets` was to be a list of two whole numbers"});
  expect_entry_fault("5", {"holds the number 5 where an object was expected, at key `w`"});
  expect_entry_fault("1e999", {"the number `1e999` is too large"});
}

}  // namespace
}  // namespace lagoon
