#include "sim/base/atomic_file.hpp"

#include <string>

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/base/diagnostic.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "paceline-test-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::permissions(path, fs::perms::owner_all, ignored);
    fs::remove_all(path, ignored);
  }
  [[nodiscard]] std::ptrdiff_t count() const {
    return std::distance(fs::directory_iterator(path), fs::directory_iterator());
  }

  fs::path path;
};

// Permissions do not bind root: for the time of a test, be somebody else.
class WithoutPrivileges {
 public:
  WithoutPrivileges() : before_(geteuid()) {
    constexpr uid_t nobody = 65534;
    if (before_ == 0) REQUIRE(seteuid(nobody) == 0);
  }
  WithoutPrivileges(const WithoutPrivileges&) = delete;
  WithoutPrivileges& operator=(const WithoutPrivileges&) = delete;
  ~WithoutPrivileges() {
    if (before_ == 0) (void)(seteuid(0) == 0);
  }

 private:
  uid_t before_;
};

template <class Action>
std::string complaint(const Action& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a file is written whole, byte for byte, and leaves nothing beside it") {
  const Folder folder;
  const std::string content("a\0b\r\n\xff", 6);
  write_file_atomically(folder.path / "x", content);
  CHECK(read_file(folder.path / "x") == content);
  CHECK(folder.count() == 1);
}

TEST_CASE("an existing file is replaced, also by a shorter one and by an empty one") {
  const Folder folder;
  write_file_atomically(folder.path / "x", "long content");
  write_file_atomically(folder.path / "x", "short");
  CHECK(read_file(folder.path / "x") == "short");
  write_file_atomically(folder.path / "x", "");
  CHECK(read_file(folder.path / "x").empty());
}

TEST_CASE("a folder that does not exist is named, with the system's reason") {
  const Folder folder;
  const std::string said = complaint([&] { write_file_atomically(folder.path / "no" / "x", "text"); });
  CHECK(said.find((folder.path / "no" / "x").string() + ": No such file or directory") != said.npos);
  CHECK(folder.count() == 0);
}

TEST_CASE("a folder that may not be written to is named, and the file that was there stays as it was") {
  const Folder folder;
  write_file_atomically(folder.path / "x", "before");
  fs::permissions(folder.path, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                                   fs::perms::others_exec);
  std::string said;
  {
    const WithoutPrivileges nobody;
    said = complaint([&] { write_file_atomically(folder.path / "x", "after"); });
  }
  CHECK(said.find("x: Permission denied") != said.npos);
  CHECK(read_file(folder.path / "x") == "before");
  CHECK(folder.count() == 1);
}

TEST_CASE("a failed replacement removes its partial file") {
  const Folder folder;
  fs::create_directories(folder.path / "taken" / "inside");
  const std::string said = complaint([&] { write_file_atomically(folder.path / "taken", "text"); });
  CHECK(said.find("cannot write") != said.npos);
  CHECK(fs::is_directory(folder.path / "taken" / "inside"));
  CHECK(folder.count() == 1);
}

TEST_CASE("reading what is absent or a folder says which") {
  const Folder folder;
  CHECK(complaint([&] { (void)read_file(folder.path / "no"); }) ==
        "error: cannot read " + (folder.path / "no").string() + ": No such file or directory\n");
  CHECK(complaint([&] { (void)read_file(folder.path); }).find("it is a folder") != std::string::npos);
}

}  // namespace
}  // namespace paceline
