// without_privileges.h: what a test does as a user whom permissions bind; the superuser may read everything.
#pragma once

#include <unistd.h>

#include <exception>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace lagoon::testing_support {

/// While it lives, this process and the programs it starts are nobody's where they were the superuser's.
class WithoutPrivileges {
 public:
  WithoutPrivileges() {
    // Both ids: a program that starts with two different ones is kept from its own /proc/self, where sanitizers read their options.
    if (was_root_ && setresuid(nobody, nobody, 0) != 0) throw std::runtime_error("privileges cannot be given up");
  }
  ~WithoutPrivileges() {
    if (was_root_ && setresuid(0, 0, 0) != 0) std::terminate();
  }
  WithoutPrivileges(const WithoutPrivileges&) = delete;
  WithoutPrivileges& operator=(const WithoutPrivileges&) = delete;

 private:
  static constexpr uid_t nobody = 65534;
  bool was_root_ = geteuid() == 0;
};

/// While it lives, nobody may list or enter the folder, but the superuser.
class ClosedFolder {
 public:
  explicit ClosedFolder(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::permissions(folder_, std::filesystem::perms::none);
  }
  ~ClosedFolder() {
    std::error_code ignored;
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, ignored);
  }
  ClosedFolder(const ClosedFolder&) = delete;
  ClosedFolder& operator=(const ClosedFolder&) = delete;

 private:
  std::filesystem::path folder_;
};

/// Lets everybody into a folder of the test's own.
inline void open_to_all(const std::filesystem::path& folder) {
  using std::filesystem::perms;
  std::filesystem::permissions(folder, perms::owner_all | perms::group_read | perms::group_exec | perms::others_read | perms::others_exec);
}

}  // namespace lagoon::testing_support
