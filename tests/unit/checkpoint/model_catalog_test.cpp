// Which model a person means, and what the list says is here.
#include "checkpoint/model_catalog.h"

#include "checkpoint/checkpoint.h"
#include "checkpoint/hugging_face_cache.h"
#include "support/checkpoint_builder.h"
#include "support/error_matchers.h"
#include "support/without_privileges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lagoon {
namespace {

namespace fs = std::filesystem;
using testing_support::ClosedFolder;
using testing_support::expect_error;
using testing_support::open_to_all;
using testing_support::TemporaryFolder;
using testing_support::WithoutPrivileges;
using testing_support::write_file;

const std::string first = "1111e85e7e0aae7b0a504d156bd36a616ec9fea3";
const std::string second = "2222e85e7e0aae7b0a504d156bd36a616ec9fea3";

class ModelCatalog : public ::testing::Test {
 protected:
  ModelCatalog() {
    places_.hub_cache = root_.path() / "hub";
    places_.shipped_models = root_.path() / "shipped";
    places_.models_dirs = {root_.path() / "models"};
    fs::create_directories(places_.shipped_models / "nano");
    fs::create_directories(places_.models_dirs[0]);
    open_to_all(root_.path());
  }
  /// A repository with one snapshot, which main names.
  fs::path download(const std::string& organisation, const std::string& name, const std::string& hash = first) const {
    const fs::path repository = places_.hub_cache / ("models--" + organisation + "--" + name);
    write_file(repository / "refs" / "main", hash);
    write_file(repository / "snapshots" / hash / "config.json", "{}");
    return repository;
  }
  fs::path local(const std::string& name, const std::string& file = "config.json") const {
    write_file(places_.models_dirs[0] / name / file, "{}");
    return places_.models_dirs[0] / name;
  }
  std::string name_found(const std::string& model) const { return find_model(model, places_).name; }
  void expect_refused(const std::string& model, const std::vector<std::string>& parts, ErrorKind kind = ErrorKind::invalid) const {
    SCOPED_TRACE(model);
    expect_error([&] { (void)find_model(model, places_); }, kind, parts);
  }
  /// The problem of the model of this name, of which there must be one. Listed without privileges.
  std::string problem_of(const std::string& name) const {
    const WithoutPrivileges nobody;
    std::vector<std::string> problems;
    for (const ModelLocation& location : list_models(places_)) {
      if (location.name == name) problems.push_back(location.problem);
    }
    EXPECT_EQ(problems.size(), 1u) << name;
    return problems.empty() ? "" : problems.front();
  }
  void expect_closed(const std::string& model, const std::vector<std::string>& parts, ErrorKind kind = ErrorKind::io) const {
    const WithoutPrivileges nobody;
    expect_refused(model, parts, kind);
  }
  std::vector<std::string> names_listed() const {
    std::vector<std::string> names;
    for (const ModelLocation& location : list_models(places_)) names.push_back(location.name);
    return names;
  }

  TemporaryFolder root_;
  CheckpointPlaces places_;
};

TEST_F(ModelCatalog, ShortNamesAreFoundInAnyCase) {
  download("poolside", "Laguna-XS-2.1");
  download("mlx-community", "Laguna-S-2.1-oQ4e");
  for (const char* text :
       {"poolside/Laguna-XS-2.1", "Laguna-XS-2.1", "laguna-xs-2.1", "POOLSIDE/LAGUNA-XS-2.1", "laguna-xs", "poolside", "pool", "XS", "xs-2"})
    EXPECT_EQ(name_found(text), "poolside/Laguna-XS-2.1") << text;
  for (const char* text : {"oq4e", "S-2.1-oQ4e", "mlx-community/lag", "laguna-s"})
    EXPECT_EQ(name_found(text), "mlx-community/Laguna-S-2.1-oQ4e") << text;
}

TEST_F(ModelCatalog, LocationSaysWhereAndWhichRevision) {
  const fs::path repository = download("poolside", "Laguna-XS-2.1");
  const ModelLocation cached = find_model("laguna-xs", places_);
  EXPECT_EQ(cached.folder, repository / "snapshots" / first);
  EXPECT_EQ(cached.found_in, "Hugging Face cache");
  EXPECT_EQ(cached.revision, first);
  const ModelLocation own = find_model("mine", (local("mine"), places_));
  EXPECT_EQ(own.found_in, "models directory");
  EXPECT_EQ(own.revision, "");
  EXPECT_EQ(find_model("nano", places_).found_in, "shipped");
  const ModelLocation by_path = find_model((repository / "snapshots" / first).string() + "/", places_);
  EXPECT_EQ(by_path.found_in, "folder");
  EXPECT_EQ(by_path.name, "poolside/Laguna-XS-2.1");
  EXPECT_EQ(by_path.revision, first);
  EXPECT_EQ(find_model(local("mine").string(), places_).name, "mine");
}

TEST_F(ModelCatalog, AWholeNameWinsOverItsBeginning) {
  download("poolside", "Laguna-XS-2.1");
  download("poolside", "Laguna-XS-2.1-FP8");
  EXPECT_EQ(name_found("laguna-xs-2.1"), "poolside/Laguna-XS-2.1");
  EXPECT_EQ(name_found("xs-2.1-f"), "poolside/Laguna-XS-2.1-FP8");
  expect_refused("laguna-xs-2", {"fits 2 models", "`poolside/Laguna-XS-2.1`", "`poolside/Laguna-XS-2.1-FP8`"});
  expect_refused("XS-2", {"fits 2 models"});
}

TEST_F(ModelCatalog, TheSameNameOfTwoOrganisationsIsAmbiguous) {
  download("poolside", "Laguna-XS-2.1");
  download("other", "laguna-xs-2.1");
  expect_refused("Laguna-XS-2.1", {"fits 2 models", "`other/laguna-xs-2.1`", "`poolside/Laguna-XS-2.1`"});
  EXPECT_EQ(name_found("other/laguna-xs-2.1"), "other/laguna-xs-2.1");
  EXPECT_EQ(name_found("other"), "other/laguna-xs-2.1");
}

TEST_F(ModelCatalog, ManyCandidatesAreNotAllNamed) {
  for (int at = 0; at < 20; ++at) download("org", "model-" + std::to_string(at));
  expect_refused("mod", {"fits 20 models", ", ..."});
}

TEST_F(ModelCatalog, RevisionsGoWithShortNames) {
  const fs::path repository = download("poolside", "Laguna-XS-2.1");
  fs::create_directories(repository / "snapshots" / second);
  EXPECT_EQ(find_model("laguna-xs@2222", places_).revision, second);
  EXPECT_EQ(find_model("laguna-xs@main", places_).revision, first);
  expect_refused("laguna-xs@3333", {"@3333", first});
  expect_refused("laguna-xs@../..", {"`../..`", "revision"});
  expect_refused("laguna-xs@", {"revision"});
  local("mine");
  expect_refused("mine@main", {"mine@main", "has no revisions"});
}

TEST_F(ModelCatalog, TyposNameTheNearest) {
  download("poolside", "Laguna-XS-2.1");
  download("mlx-community", "Laguna-S-2.1-oQ4e");
  places_.aliases = {{.name = "everyday", .model = "poolside/Laguna-XS-2.1"}};
  for (const char* text : {"poolside/Lagnua-XS-2.1", "Laguna-XS-2.2", "laguna_xs_2.1", "poolsde/laguna-xs-2.1", "someone/Laguna-XS-2.1", "lagna-xs"})
    expect_refused(text, {"did you mean `poolside/Laguna-XS-2.1`?", "lagoon models"});
  expect_refused("lagunas21oq4e", {"did you mean `mlx-community/Laguna-S-2.1-oQ4e`?"});
  expect_refused("naon", {"did you mean `nano`?"});
  expect_refused("evryday", {"did you mean `everyday`?"});
  expect_refused("Laguna-XS-2.2@main", {"did you mean `poolside/Laguna-XS-2.1`?"});
}

TEST_F(ModelCatalog, NothingNearIsSuggestedForAnotherWord) {
  download("poolside", "Laguna-XS-2.1");
  const std::vector<std::string> texts = {"gpt-oss-120b", "org/", "x", "@", "qwen/qwen3", std::string(5000, 'l'), std::string(300, 'n')};
  for (const std::string& text : texts) {
    const auto error = testing_support::error_of([&] { (void)find_model(text, places_); });
    ASSERT_TRUE(error) << text;
    EXPECT_THAT(error->what(), ::testing::Not(::testing::HasSubstr("did you mean"))) << text;
  }
  expect_refused("gpt-oss-120b", {places_.hub_cache.string(), places_.models_dirs[0].string(), "gpt-oss-120b"});
}

TEST_F(ModelCatalog, DistanceCountsSwapsAsOneChange) {
  EXPECT_EQ(name_distance("laguna", "LAGUNA"), 0u);
  EXPECT_EQ(name_distance("lagnua", "laguna"), 1u);
  EXPECT_EQ(name_distance("lagun", "laguna"), 1u);
  EXPECT_EQ(name_distance("lagunaa", "laguna"), 1u);
  EXPECT_EQ(name_distance("lxguna", "laguna"), 1u);
  EXPECT_EQ(name_distance("", "abc"), 3u);
  EXPECT_EQ(name_distance("abc", ""), 3u);
  EXPECT_EQ(name_distance("ca", "abc"), 3u);  // optimal string alignment, not the unrestricted distance
  EXPECT_EQ(name_distance("kitten", "sitting"), 3u);
}

TEST_F(ModelCatalog, PathsAreNothingButPaths) {
  download("poolside", "Laguna-XS-2.1");
  expect_refused("./Laguna-XS-2.1", {"there is no folder"});
  expect_refused("../poolside/Laguna-XS-2.1", {"there is no folder"});
  expect_refused("/Laguna-XS-2.1", {"there is no folder /Laguna-XS-2.1"});
  EXPECT_EQ(find_model(".", places_).folder, ".");
}

TEST_F(ModelCatalog, AliasesPinRevisionsAndModelTypes) {
  const fs::path repository = download("poolside", "Laguna-XS-2.1");
  fs::create_directories(repository / "snapshots" / second);
  places_.aliases = {{.name = "s21", .model = "poolside/Laguna-XS-2.1", .revision = "2222", .model_type = "laguna"},
                     {.name = "short", .model = "laguna-xs"},
                     {.name = "gone", .model = "poolside/Laguna-M.1"},
                     {.name = "tiny", .model = "nano"},
                     {.name = "here", .model = local("mine").string()}};
  const ModelLocation found = find_model("s21", places_);
  EXPECT_EQ(found.name, "poolside/Laguna-XS-2.1");
  EXPECT_EQ(found.alias, "s21");
  EXPECT_EQ(found.revision, second);
  EXPECT_EQ(found.model_type, "laguna");
  EXPECT_EQ(find_model("S21", places_).alias, "s21");
  EXPECT_EQ(find_model("short@2222", places_).revision, second);
  EXPECT_EQ(find_model("tiny", places_).name, "nano");
  EXPECT_EQ(find_model("here", places_).name, "mine");
  EXPECT_EQ(find_model("poolside/Laguna-XS-2.1", places_).model_type, std::nullopt);
  expect_refused("s21@1111", {"the alias `s21` stands for revision 2222"});
  expect_refused("gone", {"alias `gone`", "poolside/Laguna-M.1"});
}

TEST_F(ModelCatalog, AnAliasOfAnAliasIsNotFollowed) {
  places_.aliases = {{.name = "one", .model = "two"}, {.name = "two", .model = "one"}};
  expect_refused("one", {"alias `one`", "two"});
}

TEST_F(ModelCatalog, FolderWinsOverEveryName) {
  places_.aliases = {{.name = "tests", .model = "nano"}};
  const fs::path here = fs::current_path();
  const fs::path folder = root_.path() / "work";
  fs::create_directories(folder / "tests");
  fs::current_path(folder);
  const ModelLocation found = find_model("tests", places_);
  fs::current_path(here);
  EXPECT_EQ(found.found_in, "folder");
  EXPECT_EQ(found.alias, "");
}

TEST_F(ModelCatalog, ListHoldsEveryPlace) {
  download("poolside", "Laguna-XS-2.1");
  local("mine");
  local("org/theirs", "model.safetensors");
  local("packed", "model.gguf");
  local("nothing", "README.md");
  local(".hidden");
  EXPECT_THAT(names_listed(), ::testing::ElementsAre("nano", "poolside/Laguna-XS-2.1", "mine", "org/theirs", "packed"));
  EXPECT_EQ(name_found("org/theirs"), "org/theirs");
  EXPECT_EQ(name_found("their"), "org/theirs");
}

TEST_F(ModelCatalog, LinkedSnapshotsAndFoldersCount) {
  const fs::path repository = download("poolside", "Laguna-XS-2.1");
  fs::rename(repository, root_.path() / "elsewhere");
  fs::create_directory_symlink(root_.path() / "elsewhere", repository);
  fs::create_directories(root_.path() / "far" / "deep");
  write_file(root_.path() / "far" / "deep" / "config.json", "{}");
  fs::create_directory_symlink(root_.path() / "far" / "deep", places_.models_dirs[0] / "linked");
  fs::create_directory_symlink(places_.models_dirs[0], places_.models_dirs[0] / "loop");
  fs::create_directory_symlink(root_.path() / "gone", places_.models_dirs[0] / "broken");
  EXPECT_EQ(find_model("laguna-xs", places_).revision, first);
  EXPECT_EQ(name_found("linked"), "linked");
  EXPECT_THAT(names_listed(), ::testing::Contains("linked"));
}

TEST_F(ModelCatalog, EachSnapshotIsListedWhereNoneIsTheMainOne) {
  const fs::path repository = download("poolside", "Laguna-XS-2.1");
  fs::create_directories(repository / "snapshots" / second);
  fs::remove(repository / "refs" / "main");
  EXPECT_THAT(names_listed(), ::testing::ElementsAre("nano", "poolside/Laguna-XS-2.1@" + first, "poolside/Laguna-XS-2.1@" + second));
  for (const std::string& name : names_listed()) EXPECT_NO_THROW((void)find_model(name, places_)) << name;
}

TEST_F(ModelCatalog, BrokenCacheEntriesAreListedWithTheirProblem) {
  write_file(download("a", "no-snapshot") / "refs" / "main", second);
  write_file(places_.hub_cache / "models--b--begun" / "blobs" / "abc.incomplete", "x");
  write_file(places_.hub_cache / "models--c--file", "not a folder");
  fs::create_directories(places_.hub_cache / "datasets--d--data");
  const auto list = list_models(places_);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_THAT(list[1].problem, ::testing::HasSubstr(second));
  EXPECT_THAT(list[2].problem, ::testing::HasSubstr(".incomplete"));
  EXPECT_EQ(list[2].name, "b/begun");
}

TEST_F(ModelCatalog, AliasesAreListedAlsoWhenTheirModelIsNotHere) {
  places_.aliases = {{.name = "tiny", .model = "nano", .model_type = "laguna"}, {.name = "gone", .model = "org/none", .revision = "v1"}};
  const auto list = list_models(places_);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[1].alias, "tiny");
  EXPECT_EQ(list[1].name, "nano");
  EXPECT_EQ(list[1].problem, "");
  EXPECT_EQ(list[1].model_type, "laguna");
  EXPECT_EQ(list[2].alias, "gone");
  EXPECT_EQ(list[2].name, "org/none");
  EXPECT_EQ(list[2].revision, "v1");
  EXPECT_THAT(list[2].problem, ::testing::HasSubstr("org/none"));
}

TEST_F(ModelCatalog, AModelBehindAnotherOfItsNameIsListedByItsPath) {
  download("org", "model");
  const fs::path hidden = local("org/model");
  EXPECT_EQ(find_model("org/model", places_).found_in, "Hugging Face cache");
  EXPECT_THAT(names_listed(), ::testing::ElementsAre("nano", "org/model", hidden.string()));
  EXPECT_EQ(find_model(hidden.string(), places_).found_in, "folder");
}

TEST_F(ModelCatalog, PlacesThatAreNotThereAreNoFailure) {
  fs::remove_all(places_.hub_cache);
  places_.models_dirs.push_back(root_.path() / "unmounted");
  const auto list = list_models(places_);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_THAT(list[1].problem, ::testing::HasSubstr("no such models directory"));
  EXPECT_EQ(list_models({}).size(), 0u);
  expect_error([] { (void)find_model("anything", {}); }, ErrorKind::invalid, {"anything"});
}

TEST_F(ModelCatalog, ClosedFoldersAreListedAndSayPermission) {
  write_file(local("open") / "README.md", "x");
  local("org/inside");
  const ClosedFolder closed(local("closed"));
  const ClosedFolder organisation(places_.models_dirs[0] / "org");
  EXPECT_THAT(problem_of("closed"), ::testing::HasSubstr("closed: the folder cannot be looked into: Permission denied"));
  EXPECT_EQ(problem_of("open"), "");
  expect_closed("closed", {"closed", "Permission denied"});
  expect_closed("CLO", {"closed", "Permission denied"});
  expect_closed((places_.models_dirs[0] / "closed" / "deep").string(), {"closed/deep", "Permission denied"});
  expect_closed("org/inside", {"org", "not everything could be searched", "Permission denied"}, ErrorKind::invalid);
}

TEST_F(ModelCatalog, AFolderThatMayBeListedAndNotEnteredIsClosed) {
  const fs::path shut = local("shut");
  fs::permissions(shut, fs::perms::owner_read | fs::perms::others_read);
  EXPECT_THAT(problem_of("shut"), ::testing::HasSubstr("Permission denied"));
  fs::permissions(shut, fs::perms::owner_all);
}

TEST_F(ModelCatalog, ClosedPlacesAreListedOnceAndNamedWhereAModelIsSought) {
  download("poolside", "Laguna-XS-2.1");
  local("mine");
  const ClosedFolder cache(places_.hub_cache);
  const ClosedFolder directory(places_.models_dirs[0]);
  places_.models_dirs.push_back(places_.hub_cache);
  EXPECT_THAT(problem_of(places_.hub_cache.string()), ::testing::HasSubstr("Permission denied"));
  EXPECT_THAT(problem_of(places_.models_dirs[0].string()), ::testing::HasSubstr("Permission denied"));
  expect_closed("laguna-xs", {"not everything could be searched", places_.hub_cache.string() + ": the folder", "Permission denied"},
                ErrorKind::invalid);
}

TEST_F(ModelCatalog, ClosedRepositoriesAreNotToBeDownloadedAgain) {
  const std::vector<fs::path> folders = {download("a", "whole"), download("b", "refs") / "refs", download("c", "snapshots") / "snapshots",
                                         download("d", "main") / "snapshots" / first, download("e", "only") / "snapshots" / first};
  fs::remove(places_.hub_cache / "models--e--only" / "refs" / "main");
  const std::vector<std::string> names = {"a/whole", "b/refs", "c/snapshots", "d/main", "e/only"};
  for (size_t at = 0; at < names.size(); ++at) {
    const ClosedFolder closed(folders[at]);
    EXPECT_THAT(problem_of(names[at]), ::testing::HasSubstr("Permission denied")) << names[at];
    EXPECT_THAT(problem_of(names[at]), ::testing::Not(::testing::HasSubstr("download"))) << names[at];
    expect_closed(names[at], {folders[at].string(), "Permission denied"});
  }
}

TEST_F(ModelCatalog, DanglingLinksAreListedWithWhereTheyLead) {
  fs::create_directories(places_.hub_cache);
  const fs::path gone = root_.path() / "gone";
  fs::create_directory_symlink(gone, places_.hub_cache / "models--big--Laguna");
  fs::create_directory_symlink(gone, places_.models_dirs[0] / "models--other--Laguna");
  fs::create_directory_symlink(gone, places_.models_dirs[0] / "unmounted");
  fs::create_directories(places_.models_dirs[0] / "org");
  fs::create_directory_symlink(gone, places_.models_dirs[0] / "org" / "unmounted");
  fs::create_directory_symlink("circle", places_.models_dirs[0] / "circle");
  for (const char* name : {"big/Laguna", "other/Laguna", "unmounted", "org/unmounted"}) {
    EXPECT_THAT(problem_of(name), ::testing::HasSubstr("dangling link: " + gone.string())) << name;
    EXPECT_THAT(problem_of(name), ::testing::Not(::testing::HasSubstr("download"))) << name;
    expect_refused(name, {"dangling link", gone.string()}, ErrorKind::io);
  }
  EXPECT_THAT(problem_of("circle"), ::testing::HasSubstr("symbolic links"));
}

TEST_F(ModelCatalog, ADanglingFileOfAModelIsNoModel) {
  fs::create_symlink(root_.path() / "gone", local("mine") / "model.safetensors");
  places_.models_dirs = {places_.models_dirs[0] / "mine"};
  EXPECT_THAT(names_listed(), ::testing::ElementsAre("nano", "mine"));
}

TEST_F(ModelCatalog, NanoAndAliasesHaveShortNames) {
  download("poolside", "Laguna-XS-2.1");
  places_.aliases = {{.name = "pin", .model = "poolside/Laguna-XS-2.1"}, {.name = "every-day", .model = "poolside/Laguna-XS-2.1"}};
  for (const char* text : {"NANO", "Nano", "nan", "N"}) EXPECT_EQ(name_found(text), "nano") << text;
  for (const char* text : {"pi", "PIN", "Pi", "pi@1111"}) EXPECT_EQ(find_model(text, places_).alias, "pin") << text;
  EXPECT_EQ(find_model("day", places_).alias, "every-day");
  expect_refused("p", {"fits 2 models", "`pin`", "`poolside/Laguna-XS-2.1`"});
  expect_refused("nano@main", {"nano@main", "no revisions"});
  places_.aliases.push_back({.name = "nanometre", .model = "nano"});
  EXPECT_EQ(find_model("nano", places_).alias, "");
  EXPECT_EQ(find_model("NANO", places_).alias, "");
  EXPECT_EQ(find_model("nanom", places_).alias, "nanometre");
  expect_refused("nan", {"fits 2 models", "`nano`", "`nanometre`"});
}

TEST_F(ModelCatalog, NamesInAnyCaseCountAlikeWhateverHasThem) {
  download("org", "S21");
  places_.aliases = {{.name = "s21", .model = "nano"}};
  EXPECT_EQ(find_model("s21", places_).alias, "s21");
  EXPECT_EQ(find_model("org/s21", places_).alias, "");
  expect_refused("S21", {"fits 2 models", "`s21`", "`org/S21`"});
}

TEST_F(ModelCatalog, NamesLikeGoesFromWholeNamesToWords) {
  const std::vector<std::string> names = {"org/Model", "model-two", "a-model", "model-two", "remodel"};
  EXPECT_THAT(names_like(names, "MODEL"), ::testing::ElementsAre("org/Model"));
  EXPECT_THAT(names_like(names, "mod"), ::testing::ElementsAre("org/Model", "model-two"));
  EXPECT_THAT(names_like({"a-model", "remodel"}, "model"), ::testing::ElementsAre("a-model"));
  EXPECT_THAT(names_like({"a-model"}, "m"), ::testing::IsEmpty());
  EXPECT_THAT(names_like(names, ""), ::testing::IsEmpty());
  EXPECT_THAT(names_like({}, "model"), ::testing::IsEmpty());
}

TEST_F(ModelCatalog, DescriptionsNameAliasRevisionAndOverride) {
  EXPECT_EQ(describe({.name = "org/name", .revision = first}), "org/name");
  EXPECT_EQ(describe({.name = "org/name", .revision = first, .model_type = "laguna", .alias = "al"}), "al = org/name@1111e85e, model_type laguna");
  EXPECT_EQ(describe({.name = "org/name@v1", .revision = first, .alias = "al"}), "al = org/name@v1");
}

TEST_F(ModelCatalog, ACacheGivenAsModelsDirectoryIsReadAsOne) {
  download("poolside", "Laguna-XS-2.1");
  places_.models_dirs = {places_.hub_cache};
  places_.hub_cache = root_.path() / "empty";
  EXPECT_EQ(find_model("laguna-xs", places_).revision, first);
  EXPECT_EQ(names_listed().size(), 2u);
}

TEST_F(ModelCatalog, RepositoriesWithoutOrganisationAreFound) {
  write_file(places_.hub_cache / "models--gpt2" / "refs" / "main", first);
  write_file(places_.hub_cache / "models--gpt2" / "snapshots" / first / "config.json", "{}");
  EXPECT_EQ(find_model("gpt2", places_).revision, first);
}

TEST_F(ModelCatalog, ThousandsOfModelsAreFound) {
  for (int at = 0; at < 2000; ++at) fs::create_directories(places_.hub_cache / fmt::format("models--org--model-{}x", at));
  download("org", "model-1999x");
  EXPECT_EQ(name_found("model-1999x"), "org/model-1999x");
  EXPECT_EQ(name_found("1999"), "org/model-1999x");
  expect_refused("modle-1999x", {"did you mean `org/model-1999x`?"});
  EXPECT_EQ(names_listed().size(), 2001u);
}

TEST_F(ModelCatalog, OddNamesAreShownSafely) {
  local("bad\x1b[31m\xff name");
  EXPECT_EQ(list_models(places_).size(), 2u);
  expect_refused("\x1b[31m\xff?", {"\\x1b"});
  EXPECT_EQ(find_model("bad\x1b[31m\xff name", places_).found_in, "models directory");
}

TEST_F(ModelCatalog, ModelTypeOfTheAliasCountsInsteadOfTheFiles) {
  testing_support::CheckpointBuilder builder;
  builder.config["model_type"] = "odd";
  builder.config["architectures"] = Json::array({"OddForCausalLM"});
  builder.write(places_.models_dirs[0] / "odd");
  expect_error([&] { (void)Checkpoint::open("odd", places_, SystemFiles()); }, ErrorKind::unsupported, {"`odd`", "`laguna`"});
  places_.aliases = {{.name = "fixed", .model = "odd", .model_type = "laguna"}};
  const Checkpoint checkpoint = Checkpoint::open("fixed", places_, SystemFiles());
  EXPECT_EQ(checkpoint.overridden(), "model_type `odd`");
  EXPECT_EQ(checkpoint.location().alias, "fixed");
  EXPECT_EQ(checkpoint.folder(), places_.models_dirs[0] / "odd");
}

TEST_F(ModelCatalog, ModelTypeIsOverriddenInsideAnEnvelope) {
  testing_support::CheckpointBuilder builder;
  Json inner = builder.config;
  inner["model_type"] = 7;
  inner.erase("architectures");
  builder.config = {{"architectures", {"SomethingForVision"}}, {"model_type", "vision"}, {"text_config", inner}};
  builder.write(places_.models_dirs[0] / "odd");
  places_.aliases = {{.name = "fixed", .model = "odd", .model_type = "laguna"}};
  EXPECT_EQ(Checkpoint::open("fixed", places_, SystemFiles()).overridden(), "model_type `7`");
}

TEST_F(ModelCatalog, AnOverrideThatChangesNothingSaysNothing) {
  testing_support::CheckpointBuilder().write(places_.models_dirs[0] / "plain");
  places_.aliases = {{.name = "same", .model = "plain", .model_type = "laguna"}};
  EXPECT_EQ(Checkpoint::open("same", places_, SystemFiles()).overridden(), "");
}

TEST_F(ModelCatalog, AnOverrideDoesNotMakeAnotherModelALaguna) {
  write_file(places_.models_dirs[0] / "list" / "config.json", "[1]");
  write_file(places_.models_dirs[0] / "list" / "model.safetensors", "x");
  places_.aliases = {{.name = "forced", .model = "list", .model_type = "laguna"}};
  expect_error([&] { (void)Checkpoint::open("forced", places_, SystemFiles()); }, ErrorKind::corrupt, {"config.json"});
}

}  // namespace
}  // namespace lagoon
