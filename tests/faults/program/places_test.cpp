// What stands in the place of a file: every command that reads it says so at once, and waits for nothing.
#include "faults/program/hostile.h"
#include "support/without_privileges.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>

namespace lagoon {
namespace {

using namespace testing_support;

constexpr std::array<const char*, 6> all_files = {"model.safetensors",      "config.json",           "tokenizer.json",
                                                  "generation_config.json", "tokenizer_config.json", "chat_template.jinja"};

void put_socket(const std::filesystem::path& path) {
  const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string name = path.string();
  ASSERT_LT(name.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, name.c_str(), name.size());
  ASSERT_EQ(bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  close(descriptor);
}

struct Place {
  const char* name;
  std::function<void(const std::filesystem::path& path)> put;
  const char* said;
};

const std::vector<Place>& places() {
  static const std::vector<Place> all = {
      {"a folder", [](auto& path) { std::filesystem::create_directory(path); }, "a regular file was expected, this is a folder"},
      {"a pipe", [](auto& path) { ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); }, "a regular file was expected, this is a pipe"},
      {"a socket", [](auto& path) { put_socket(path); }, "a regular file was expected, this is a pipe, a device or a socket"},
      {"zeros", [](auto& path) { std::filesystem::create_symlink("/dev/zero", path); }, "this is a pipe, a device or a socket"},
      {"a full device", [](auto& path) { std::filesystem::create_symlink("/dev/full", path); }, "this is a pipe, a device or a socket"},
      {"a dangling link", [](auto& path) { std::filesystem::create_symlink("gone", path); }, "this is a dangling link: gone is not there"},
      {"a loop", [](auto& path) { std::filesystem::create_symlink(path, path); }, "this link leads back to itself"}};
  return all;
}

class InPlaceOf : public testing::TestWithParam<const char*> {};

TEST_P(InPlaceOf, WhatIsNoFileIsRefusedByEveryCommandThatReadsIt) {
  const std::string file = GetParam();
  for (const Place& place : places()) {
    SCOPED_TRACE(place.name);
    const HostileFolder folder;
    folder.remove(file);
    place.put(folder.at(file));
    expect_all_refuse(file, folder, {file + ": ", place.said});
  }
}

TEST_P(InPlaceOf, AFileThatMayNotBeReadIsRefused) {
  const std::string file = GetParam();
  const HostileFolder folder;
  folder.put(file, HostileFolder::original(file));
  std::filesystem::permissions(folder.at(file), std::filesystem::perms::none);
  const WithoutPrivileges nobody;
  expect_all_refuse(file, folder, {file + ": cannot be opened for reading: Permission denied; give yourself the right"});
}

TEST_P(InPlaceOf, WhatADownloadLeavesIsRecognised) {
  const std::string file = GetParam();
  expect_all_refuse(
      file,
      {{"git-lfs",
        [&](auto& folder) { folder.put(file, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"); },
        {file, "this is a git-lfs pointer that stands for the file", "fetch the file itself"}},
       {"a web page",
        [&](auto& folder) { folder.put(file, "<!DOCTYPE html>\n<html><head><title>404</title></head></html>\n"); },
        {file, "this is a web page", "fetch the file itself"}},
       {"a web page with a byte order mark", [&](auto& folder) { folder.put(file, "\xef\xbb\xbf\n<html></html>\n"); }, {file, "this is a web page"}},
       {"nothing", [&](auto& folder) { folder.put(file, ""); }, {file, file == "model.safetensors" ? "0 bytes" : "empty"}}});
}

TEST_P(InPlaceOf, JsonThatIsNoneIsRefused) {
  const std::string file = GetParam();
  if (!file.ends_with(".json")) GTEST_SKIP() << "no JSON";
  std::string lists = "{\"x\":";
  std::string objects;
  for (int level = 0; level < 100'000; ++level) {
    lists += "[";
    objects += "{\"a\":";
  }
  const std::string whole = HostileFolder::original(file);
  const std::string open = whole.substr(0, whole.find_last_of('}'));
  const auto put = [&](const std::string& text) { return [&file, text](HostileFolder& folder) { folder.put(file, text); }; };
  expect_all_refuse(file, {{"deep lists", put(lists), {file, "nested deeper than 512 levels"}},
                           {"deep objects", put(objects), {file, "nested deeper than 512 levels"}},
                           {"a key twice", put(open + ",\"zz\":1,\"zz\":2}"), {file, "the key `zz` stands twice"}},
                           {"a list", put("[]"), {file, "object"}},
                           {"a number", put("5"), {file, "object"}},
                           {"null", put("null"), {file, "object"}},
                           {"a key that is no UTF-8", put(open + ",\"\xff\xfe\":1}"), {file, "no valid JSON at byte"}},
                           {"a lone surrogate", put(open + ",\"\\ud800\":1}"), {file, "no valid JSON at byte"}},
                           {"cut", put(open), {file, "no valid JSON at byte"}},
                           {"more behind", put(whole + "junk"), {file, "no valid JSON at byte"}},
                           {"NUL", put(std::string("{}\0{}", 5)), {file, "a NUL byte"}}});
}

INSTANTIATE_TEST_SUITE_P(Files, InPlaceOf, testing::ValuesIn(all_files), [](const auto& file) {
  std::string name = file.param;
  std::erase_if(name, [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; });
  return name;
});

TEST(AbsentFiles, AreNamed) {
  expect_all_refuse("model.safetensors", {{"weights", [](auto& folder) { folder.remove("model.safetensors"); }, {"there are no weights here"}},
                                          {"config", [](auto& folder) { folder.remove("config.json"); }, {"config.json is missing"}}});
  expect_all_refuse("tokenizer.json",
                    {{"tokenizer", [](auto& folder) { folder.remove("tokenizer.json"); }, {"tokenizer.json: there is no such file"}}});
  expect_all_refuse("chat_template.jinja", {{"template", [](auto& folder) { folder.remove("chat_template.jinja"); }, {"there is no chat template"}}});
}

TEST(AbsentFiles, NamesOfFoldersCannotSteerATerminal) {
  const TemporaryFolder place;
  const std::filesystem::path folder = place.path() / "\x1b[31m\nred\xff";
  std::filesystem::create_directory(folder);
  for (const auto& file : std::filesystem::directory_iterator(nano_folder())) {
    const std::string name = file.path().filename();
    if (name != "tokenizer.json" && name != "README.md") std::filesystem::create_symlink(file.path(), folder / name);
  }
  const ProgramRun absent = run_limited({"tokenize", folder, "hi"});
  expect_refused(absent, "\\x1b[31m\\x0ared\\xff/tokenizer.json");
  std::ofstream(folder / "tokenizer.json") << "{";
  expect_refused(run_limited({"generate", folder, "hi"}), "\\x1b[31m\\x0ared\\xff/tokenizer.json");
}

}  // namespace
}  // namespace lagoon
