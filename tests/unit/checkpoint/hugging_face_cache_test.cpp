#include "checkpoint/hugging_face_cache.h"

#include "checkpoint/checkpoint.h"
#include "support/checkpoint_builder.h"
#include "support/error_matchers.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace lagoon {
namespace {

using testing_support::expect_error;
using testing_support::write_file;

const std::string first = "a50e85e7e0aae7b0a504d156bd36a616ec9fea38";
const std::string second = "a50e9f00e0aae7b0a504d156bd36a616ec9fea38";

class HuggingFaceCache : public ::testing::Test {
 protected:
  HuggingFaceCache() {
    std::filesystem::create_directories(repository_ / "snapshots" / first);
    std::filesystem::create_directories(repository_ / "snapshots" / second);
    write_file(repository_ / "refs" / "main", first + "\n");
    write_file(repository_ / "refs" / "refs" / "pr" / "1", second);
    places_ = {hub_.path(), hub_.path() / "shipped"};
  }
  std::filesystem::path find(const std::string& model) const { return find_model_folder(model, places_); }
  std::filesystem::path snapshot(const std::string& hash) const { return repository_ / "snapshots" / hash; }
  void expect_refused(const std::string& model, ErrorKind kind, const std::vector<std::string>& parts) const {
    expect_error([&] { find(model); }, kind, parts);
  }
  testing_support::TemporaryFolder hub_;
  std::filesystem::path repository_ = hub_.path() / "models--poolside--Laguna-XS-2.1";
  CheckpointPlaces places_;
};

TEST_F(HuggingFaceCache, NameAloneIsWhatMainPointsTo) { EXPECT_EQ(find("poolside/Laguna-XS-2.1"), snapshot(first)); }

TEST_F(HuggingFaceCache, RevisionMayBeABranchWithSlashes) { EXPECT_EQ(find("poolside/Laguna-XS-2.1@refs/pr/1"), snapshot(second)); }

TEST_F(HuggingFaceCache, RevisionMayBeAHashOrItsBeginning) {
  EXPECT_EQ(find("poolside/Laguna-XS-2.1@" + second), snapshot(second));
  EXPECT_EQ(find("poolside/Laguna-XS-2.1@a50e9"), snapshot(second));
}

TEST_F(HuggingFaceCache, AmbiguousBeginningOfAHashIsRefused) {
  expect_refused("poolside/Laguna-XS-2.1@a50e", ErrorKind::invalid, {"2 snapshots", first});
}

TEST_F(HuggingFaceCache, UnknownRevisionNamesWhatIsThere) { expect_refused("poolside/Laguna-XS-2.1@v9", ErrorKind::invalid, {"v9", first}); }

TEST_F(HuggingFaceCache, TooLittleOfAHashSaysHowMuchIsNeeded) {
  for (const char* revision : {"a", "a5", "a50"}) {
    expect_refused(std::string("poolside/Laguna-XS-2.1@") + revision, ErrorKind::invalid, {"at least 4 characters", first});
  }
}

TEST_F(HuggingFaceCache, RefToASnapshotThatIsNotThereIsAnIncompleteDownload) {
  write_file(repository_ / "refs" / "main", "0123456789012345678901234567890123456789");
  expect_refused("poolside/Laguna-XS-2.1", ErrorKind::corrupt, {"refs/main", "0123456789", first});
}

TEST_F(HuggingFaceCache, RefThatIsNoHashIsRefused) {
  write_file(repository_ / "refs" / "main", "../../etc");
  expect_refused("poolside/Laguna-XS-2.1", ErrorKind::corrupt, {"refs/main", "commit hash"});
  write_file(repository_ / "refs" / "main", "");
  expect_refused("poolside/Laguna-XS-2.1", ErrorKind::corrupt, {"refs/main"});
}

TEST_F(HuggingFaceCache, MainThatCannotBeReadIsNotPassedOver) {
  const std::filesystem::path main = repository_ / "refs" / "main";
  std::filesystem::remove_all(snapshot(second));
  std::filesystem::remove(main);
  ASSERT_EQ(::mkfifo(main.c_str(), 0600), 0);
  expect_refused("poolside/Laguna-XS-2.1", ErrorKind::invalid, {"refs/main", "a pipe"});
  std::filesystem::remove(main);
  std::filesystem::create_symlink("main", main);
  expect_refused("poolside/Laguna-XS-2.1", ErrorKind::invalid, {"refs/main", "back to itself"});
  std::filesystem::remove(main);
  std::filesystem::create_symlink("gone", main);
  expect_refused("poolside/Laguna-XS-2.1", ErrorKind::invalid, {"refs/main", "dangling link"});
}

TEST_F(HuggingFaceCache, OnlySnapshotStandsInForAMissingMain) {
  std::filesystem::remove(repository_ / "refs" / "main");
  expect_refused("poolside/Laguna-XS-2.1", ErrorKind::invalid, {"no refs/main", first, second});
  std::filesystem::remove(snapshot(second));
  EXPECT_EQ(find("poolside/Laguna-XS-2.1"), snapshot(first));
}

TEST_F(HuggingFaceCache, RepositoryThatIsNotThereSaysWhereItWasLookedFor) {
  expect_refused("poolside/Laguna-M.1", ErrorKind::invalid, {"poolside/Laguna-M.1", hub_.path().string(), "no model of this name"});
}

TEST_F(HuggingFaceCache, NamesThatCouldLeaveTheCacheAreNoRepositories) {
  for (const char* text :
       {"..", "../x", "a/..", "a/b/c", "a/b@../../x", "a/b@/x", "a/b@", "a//b", "/a/b", "a/", "a--b/c", "a/b c", "a/b@x//y", "a/.b", ""}) {
    EXPECT_FALSE(parse_repository(text)) << text;
  }
  EXPECT_TRUE(parse_repository("org/name@feature/x-1"));
}

TEST_F(HuggingFaceCache, FolderWinsOverARepositoryOfTheSameName) { EXPECT_EQ(find(repository_.string()), repository_); }

TEST_F(HuggingFaceCache, NanoIsTheModelThatShips) {
  expect_refused("nano", ErrorKind::invalid, {"shipped/nano"});
  std::filesystem::create_directories(hub_.path() / "shipped" / "nano");
  EXPECT_EQ(find("nano"), hub_.path() / "shipped" / "nano");
}

TEST_F(HuggingFaceCache, PathThatIsNotThereIsNamedInFull) {
  expect_refused("/nowhere/at/all", ErrorKind::invalid, {"/nowhere/at/all", "no folder"});
  expect_refused("./nowhere", ErrorKind::invalid, {std::filesystem::current_path().string(), "no folder"});
  expect_refused("single", ErrorKind::invalid, {"single", "no model of this name", "lagoon models"});
  expect_refused("", ErrorKind::invalid, {"org/name"});
  expect_refused(std::string("a\0b", 3), ErrorKind::invalid, {"org/name"});
}

TEST_F(HuggingFaceCache, FileInPlaceOfAFolderSaysWhatToGive) {
  write_file(hub_.path() / "model.safetensors", "x");
  write_file(hub_.path() / "model.gguf", "x");
  expect_refused((hub_.path() / "model.safetensors").string(), ErrorKind::invalid, {"this is a file", hub_.path().string()});
  expect_refused((hub_.path() / "model.gguf").string(), ErrorKind::unsupported, {"GGUF"});
}

}  // namespace
}  // namespace lagoon
