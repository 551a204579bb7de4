#include "machine/file.h"

#include "base/error.h"
#include "support/sentence_of.h"
#include "support/temporary_folder.h"
#include "support/without_privileges.h"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::file_text;
using testing_support::sentence_of;
using testing_support::TemporaryFolder;

std::string read_all(const PositionalRead& read, size_t bytes) {
  std::string text(bytes, '?');
  read_fully(read, "f", 0, std::as_writable_bytes(std::span(text)));
  return text;
}

TEST(ReadFully, ShortReadsGoOn) {
  const std::string content = "abcdefghij";
  const auto one_byte = [&](std::byte* to, size_t, uint64_t at) -> int64_t {
    std::memcpy(to, &content[at], 1);
    return 1;
  };

  EXPECT_EQ(read_all(one_byte, 10), content);
}

TEST(ReadFully, InterruptedReadsAreRepeated) {
  int calls = 0;
  const auto interrupted = [&](std::byte* to, size_t bytes, uint64_t) -> int64_t {
    if (++calls % 2 == 1) {
      errno = EINTR;
      return -1;
    }
    std::memset(to, 'x', bytes);
    return static_cast<int64_t>(bytes);
  };

  EXPECT_EQ(read_all(interrupted, 3), "xxx");
  EXPECT_EQ(calls, 2);
}

TEST(ReadFully, AFailureInTheMiddleNamesFileByteAndReason) {
  const auto failing = [](std::byte*, size_t, uint64_t at) -> int64_t {
    if (at < 4) return 4;
    errno = EIO;
    return -1;
  };

  EXPECT_THAT(sentence_of(ErrorKind::io, [&] { read_all(failing, 10); }),
              testing::AllOf(HasSubstr("f: reading 6 bytes at byte 4"), HasSubstr("Input/output")));
}

TEST(ReadFully, AFileThatEndsEarlyIsCorrupt) {
  const auto shrunk = [](std::byte*, size_t, uint64_t at) -> int64_t { return at == 0 ? 7 : 0; };

  EXPECT_THAT(sentence_of(ErrorKind::corrupt, [&] { read_all(shrunk, 10); }), HasSubstr("ends at byte 7, 3 bytes more were expected"));
}

TEST(ReadFully, OneCallAsksForAtMost64MiB) {
  size_t largest = 0;
  const auto greedy = [&](std::byte*, size_t bytes, uint64_t) -> int64_t {
    largest = std::max(largest, bytes);
    return static_cast<int64_t>(bytes);
  };

  read_all(greedy, (64u << 20) + 1);

  EXPECT_EQ(largest, 64u << 20);
}

TEST(SystemFiles, ReadAtAPosition) {
  const TemporaryFolder folder;
  const auto file = SystemFiles().open(folder.write("a", "0123456789"));
  std::string text(4, ' ');

  file->read_at(3, std::as_writable_bytes(std::span(text)));

  EXPECT_EQ(text, "3456");
  EXPECT_EQ(file->size(), 10u);
}

TEST(SystemFiles, WhatIsNoRegularFileIsRefusedWithoutWaiting) {
  const TemporaryFolder folder;
  mkfifo((folder.path() / "pipe").c_str(), 0600);

  EXPECT_THAT(sentence_of(ErrorKind::invalid, [&] { SystemFiles().open(folder.path()); }), HasSubstr("this is a folder"));
  EXPECT_THAT(sentence_of(ErrorKind::invalid, [&] { SystemFiles().open(folder.path() / "pipe"); }), HasSubstr("a pipe"));
  EXPECT_THAT(sentence_of(ErrorKind::invalid, [&] { SystemFiles().open(folder.path() / "absent"); }), HasSubstr("there is no such file"));
}

TEST(SystemFiles, LinksThatLeadNowhereAreTheReadersToMend) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink(folder.path() / "gone", folder.path() / "dangling");
  std::filesystem::create_symlink(folder.path() / "loop", folder.path() / "loop");
  EXPECT_THAT(sentence_of(ErrorKind::invalid, [&] { SystemFiles().open(folder.path() / "dangling"); }), HasSubstr("/gone is not there"));
  EXPECT_THAT(sentence_of(ErrorKind::invalid, [&] { SystemFiles().open(folder.path() / "loop"); }), HasSubstr("leads back to itself"));
  EXPECT_THAT(sentence_of(ErrorKind::invalid, [&] { SystemFiles().open(folder.path() / std::string(300, 'n')); }), HasSubstr("shorter path"));
}

TEST(SystemFiles, WhatMayNotBeReadIsTheReadersToAllow) {
  const TemporaryFolder folder;
  testing_support::open_to_all(folder.path());
  const auto file = folder.write("a", "secret");
  std::filesystem::permissions(file, std::filesystem::perms::none);
  const testing_support::WithoutPrivileges nobody;
  EXPECT_THAT(sentence_of(ErrorKind::invalid, [&] { SystemFiles().open(file); }), HasSubstr("Permission denied; give yourself the right"));
}

TEST(ReadText, RefusesFilesBeyondTheLimit) {
  const TemporaryFolder folder;
  const auto path = folder.write("a", "12345");

  EXPECT_EQ(read_text(SystemFiles(), path, 5), "12345");
  EXPECT_THAT(sentence_of(ErrorKind::corrupt, [&] { read_text(SystemFiles(), path, 4); }), HasSubstr("5 bytes, at most 4"));
}

TEST(DurableWriter, WithoutCommitTheOldFileStaysAndNothingIsLeft) {
  const TemporaryFolder folder;
  const auto path = folder.write("a", "old");
  {
    DurableWriter writer(path);
    writer.write(std::as_bytes(std::span("new", 3)));
  }

  EXPECT_EQ(file_text(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(DurableWriter, CommitPutsTheWholeFileInPlace) {
  const TemporaryFolder folder;
  const auto path = folder.write("a", "old");

  DurableWriter writer(path);
  writer.write(std::as_bytes(std::span("new", 3)));
  writer.commit();

  EXPECT_EQ(file_text(path), "new");
}

TEST(DurableWriter, ARefusedWriteIsSaidAndNothingIsLeft) {
  const TemporaryFolder folder;
  struct rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  const struct rlimit small = {.rlim_cur = 1000, .rlim_max = before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);

  const std::string sentence = sentence_of(ErrorKind::io, [&] {
    DurableWriter writer(folder.path() / "a");
    writer.write(std::vector<std::byte>(2000));
  });
  setrlimit(RLIMIT_FSIZE, &before);

  EXPECT_THAT(sentence, HasSubstr("a: writing failed: File too large; nothing was kept"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(DurableWriter, HolesReadAsZerosAndTakeNoDisk) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "a";
  DurableWriter writer(path);
  writer.write(std::as_bytes(std::span("front", 5)));
  writer.write_hole(uint64_t{1} << 32);
  writer.write(std::as_bytes(std::span("back", 4)));
  writer.write_hole(3);
  writer.commit();
  const auto file = SystemFiles().open(path);
  ASSERT_EQ(file->size(), (uint64_t{1} << 32) + 12);
  std::string end(8, '?');
  file->read_at(uint64_t{1} << 32, std::as_writable_bytes(std::span(end)));
  EXPECT_EQ(end, std::string("\0\0\0\0\0bac", 8));
  struct stat status = {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_LT(status.st_blocks * 512, 1 << 20);
}

TEST(DurableWriter, ALinkIsFollowedAndStays) {
  const TemporaryFolder folder;
  const auto target = folder.write("target", "old");
  std::filesystem::create_symlink(target, folder.path() / "link");

  DurableWriter writer(folder.path() / "link");
  writer.write(std::as_bytes(std::span("new", 3)));
  writer.commit();

  EXPECT_EQ(file_text(target), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "link"));
}

TEST(DurableWriter, ADanglingLinkStaysAndWhatItNamesIsWritten) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "inner");
  std::filesystem::create_symlink("inner/second", folder.path() / "first");
  std::filesystem::create_symlink("../target", folder.path() / "inner/second");
  std::filesystem::create_symlink("loop", folder.path() / "loop");

  DurableWriter writer(folder.path() / "first");
  writer.write(std::as_bytes(std::span("new", 3)));
  writer.commit();

  EXPECT_EQ(file_text(folder.path() / "target"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "first"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "inner/second"));
  EXPECT_THAT(sentence_of(ErrorKind::invalid, [&] { DurableWriter refused(folder.path() / "loop"); }), HasSubstr("leads back to itself"));
}

TEST(DurableWriter, AFileThatIsWrittenOverKeepsItsMode) {
  const TemporaryFolder folder;
  const auto path = folder.write("a", "old");
  std::filesystem::permissions(path, std::filesystem::perms(0640));
  DurableWriter writer(path);
  writer.commit();
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0640));
}

TEST(DurableWriter, AFileThatMayNotBeWrittenIsLeftAlone) {
  const TemporaryFolder folder;
  testing_support::open_to_all(folder.path());
  const auto path = folder.write("a", "old");
  std::filesystem::permissions(path, std::filesystem::perms(0444));
  const testing_support::WithoutPrivileges nobody;
  EXPECT_THAT(sentence_of(ErrorKind::invalid, [&] { DurableWriter writer(path); }), HasSubstr("a: may not be written over: Permission denied"));
  EXPECT_EQ(file_text(path), "old");
}

TEST(DurableWriter, WhatIsNoFileIsRefused) {
  const TemporaryFolder folder;
  mkfifo((folder.path() / "pipe").c_str(), 0600);
  EXPECT_THAT(sentence_of(ErrorKind::invalid, [&] { DurableWriter writer(folder.path() / "pipe"); }), HasSubstr("this is a pipe"));
  EXPECT_THAT(sentence_of(ErrorKind::invalid, [&] { DurableWriter writer(folder.path()); }), HasSubstr("this is a folder"));
}

TEST(DurableWriter, ALongNameIsNoHindrance) {
  const TemporaryFolder folder;
  const auto path = folder.path() / std::string(255, 'n');
  DurableWriter writer(path);
  writer.commit();
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(DurableWriter, AFileUnderConstructionHasNoNameWhereTheSystemAllows) {
  const TemporaryFolder folder;
  const int without_name = ::open(folder.path().c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (without_name < 0) GTEST_SKIP() << "this file system has no files without names";
  ::close(without_name);
  folder.write("a", "old");
  DurableWriter writer(folder.path() / "a");
  writer.write(std::as_bytes(std::span("new", 3)));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  writer.commit();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  EXPECT_EQ(file_text(folder.path() / "a"), "new");
}

TEST(DurableWriter, AFolderThatIsNotThereIsSaid) {
  EXPECT_THAT(sentence_of(ErrorKind::invalid, [] { DurableWriter writer("/no/such/folder/a"); }),
              HasSubstr("/no/such/folder/a: there is no folder /no/such/folder; make it first"));
}

}  // namespace
}  // namespace lagoon
