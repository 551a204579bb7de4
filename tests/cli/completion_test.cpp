// Completion in the shells themselves.
#include "support/run_program.h"
#include "support/temporary_folder.h"
#include "support/terminal.h"

#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>

namespace lagoon {
namespace {

namespace fs = std::filesystem;

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;
using testing_support::run_lagoon;
using testing_support::TemporaryFolder;
using testing_support::Terminal;

/// A models directory with names that shells have to quote.
class Completion : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"my model", "o'dd $x(1)", "org/name",
                             "m\xc3\xa4"
                             "rz"}) {
      fs::create_directories(models() / name);
      for (const auto& file : fs::directory_iterator(fs::path(LAGOON_SOURCE_DIR) / "models" / "nano"))
        fs::create_symlink(file.path(), models() / name / file.path().filename());
    }
    for (const char* shell : {"bash", "zsh", "fish"})
      folder_.write(shell == std::string("zsh") ? "functions/_lagoon" : shell, run_lagoon({"completion", shell}).output);
    fs::create_symlink(LAGOON_PROGRAM, folder_.path() / "lagoon");
  }

  fs::path models() const { return folder_.path() / "models"; }

  std::vector<std::string> lines_of(const std::string& command) const {
    const std::string place =
        "cd '" + folder_.path().string() + "' && export PATH=\"$PWD:$PATH\" HF_HUB_CACHE=/none LAGOON_CONFIG= XDG_CONFIG_HOME=/none; ";
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen((place + command).c_str(), "r"), pclose);
    std::string text;
    std::array<char, 4096> buffer;
    while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) text.append(buffer.data(), got);
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }

  /// What bash offers for the last of these words. @param words  as readline cuts them
  std::vector<std::string> bash(const std::string& words) const {
    folder_.write("ask.bash",
                  ". ./bash\nCOMP_WORDS=(" + words +
                      ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_lagoon\n[[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    return lines_of("LC_ALL=C.UTF-8 bash ask.bash 2>&1");
  }

  /// What fish offers for a line, without descriptions.
  std::vector<std::string> fish(const std::string& line) const {
    folder_.write("ask.fish", "source ./fish\ncomplete -C \"" + line + "\" | string split -f 1 \\t\n");
    return lines_of("HOME=\"$PWD\" LC_ALL=C.UTF-8 fish --no-config ask.fish 2>&1");
  }

  /// The line that zsh makes of one when Tab is pressed at its end.
  std::string zsh(const std::string& line) const {
    Terminal terminal({"zsh", "-f", "-i"},
                      {.columns = 200,
                       .environment = {"PATH=" + folder_.path().string() + ":" + getenv("PATH"), "TERM=xterm", "LC_ALL=C.UTF-8", "HF_HUB_CACHE=/none",
                                       "LAGOON_CONFIG=", "XDG_CONFIG_HOME=/none", "HOME=" + folder_.path().string()}});
    terminal.type("cd '" + folder_.path().string() +
                  "'; PS1=; unsetopt zle_bracketed_paste; fpath=($PWD/functions $fpath); autoload -Uz compinit; "
                  "compinit -u -D; setopt no_beep; zstyle ':completion:*' list-prompt ''; show() { print -r -- \"<\"\"<${BUFFER}>\"\">\" }; "
                  "zle -N show; bindkey '^G' show; print rea''dy\r");
    EXPECT_TRUE(terminal.wait_for_output("ready\r\n")) << terminal.output();
    terminal.type(line + "\t\x07");
    EXPECT_TRUE(terminal.wait_for_output(">>")) << terminal.output();
    const std::string& output = terminal.output();
    const size_t begin = output.rfind("<<");
    return begin == std::string::npos ? output : output.substr(begin + 2, output.find(">>", begin) - begin - 2);
  }

  TemporaryFolder folder_;
};

TEST_F(Completion, ModelNamesSayNothingButNames) {
  const auto names = lines_of("lagoon model-names --models-dir models 2>&1");
  EXPECT_THAT(names, ElementsAre("my model",
                                 "m\xc3\xa4"
                                 "rz",
                                 "nano", "o'dd $x(1)", "org/name"));
  EXPECT_THAT(lines_of("lagoon model-names --models-dir none 2>&1"), ElementsAre("nano"));
  EXPECT_THAT(lines_of("lagoon model-names --known 2>&1"), Contains("s-2.1-oq4e"));
  EXPECT_THAT(run_lagoon({"--help"}).output, Not(HasSubstr("model-names")));
}

TEST_F(Completion, BashCompletesCommandsFlagsAndWords) {
  EXPECT_THAT(bash("lagoon gen"), ElementsAre("generate"));
  EXPECT_THAT(bash("lagoon co"), UnorderedElementsAre("compare", "config", "completion"));
  EXPECT_THAT(bash("lagoon --models-dir models gen"), ElementsAre("generate"));
  EXPECT_THAT(bash("lagoon --quiet gen"), ElementsAre("generate"));
  EXPECT_THAT(bash("lagoon generate --temp"), ElementsAre("--temperature"));
  EXPECT_THAT(bash("lagoon generate --"), Contains("--log-file"));
  EXPECT_THAT(bash("lagoon generate --"), Not(Contains("--mtp")));
  EXPECT_THAT(bash("lagoon generate nano --kernels ''"), ElementsAre("auto", "avx512-vnni", "avx512", "avx2", "scalar"));
  EXPECT_THAT(bash("lagoon generate nano --thinking = o"), ElementsAre("on", "off"));
  EXPECT_THAT(bash("lagoon generate nano --kv f"), ElementsAre("f32"));
  EXPECT_THAT(bash("lagoon facts nano --kv f"), ElementsAre("fp8"));
  EXPECT_THAT(bash("lagoon completion z"), ElementsAre("zsh"));
  EXPECT_THAT(bash("lagoon man gen"), ElementsAre("generate"));
  EXPECT_THAT(bash("lagoon generate nano --top-k ''"), IsEmpty());
}

TEST_F(Completion, BashCompletesModelsAndFiles) {
  EXPECT_THAT(bash("lagoon generate na"), ElementsAre("nano"));
  EXPECT_THAT(bash("lagoon generate --models-dir models my"), ElementsAre("my\\ model"));
  EXPECT_THAT(bash("lagoon --models-dir = models generate my"), ElementsAre("my\\ model"));
  EXPECT_THAT(bash("lagoon generate --models-dir models \"my\\\\ \""), ElementsAre("my\\ model"));
  EXPECT_THAT(bash("lagoon generate --models-dir models \"'my \""), ElementsAre("my model"));
  EXPECT_THAT(bash("lagoon generate --models-dir models o"), ElementsAre("o\\'dd\\ \\$x\\(1\\)", "org/name"));
  EXPECT_THAT(bash("lagoon generate --models-dir models m\xc3\xa4"), ElementsAre("m\xc3\xa4"
                                                                                 "rz"));
  EXPECT_THAT(bash("lagoon plan s-2.1-oq4"), ElementsAre("s-2.1-oq4e"));
  EXPECT_THAT(bash("lagoon compare nano na"), ElementsAre("nano"));
  EXPECT_THAT(bash("lagoon generate nano --messages ask"), ElementsAre("ask.bash"));
  EXPECT_THAT(bash("lagoon --models-dir mod"), ElementsAre("models"));
  EXPECT_THAT(bash("lagoon synth mini:4/64 mod"), ElementsAre("models"));
}

TEST_F(Completion, BashOnATerminalQuotesWhatItInserts) {
  Terminal terminal({"bash", "--norc", "-i"},
                    {.columns = 200,
                     .environment = {"PATH=" + folder_.path().string() + ":" + getenv("PATH"), "TERM=dumb", "LC_ALL=C.UTF-8",
                                     "PS1=", "HF_HUB_CACHE=/none", "LAGOON_CONFIG=", "XDG_CONFIG_HOME=/none"}});
  terminal.type("cd '" + folder_.path().string() + "'; bind 'set enable-bracketed-paste off'; source ./bash; echo rea''dy\n");
  ASSERT_TRUE(terminal.wait_for_output("ready\r\n")) << terminal.output();
  terminal.type("lagoon tokenize --models-dir models my\thi\n");
  EXPECT_TRUE(terminal.wait_for_output("1094\r\n")) << terminal.output();
  EXPECT_THAT(terminal.output(), HasSubstr("my\\ model hi"));
}

TEST_F(Completion, FishCompletesCommandsFlagsWordsModelsAndFiles) {
  EXPECT_THAT(fish("lagoon gen"), ElementsAre("generate"));
  EXPECT_THAT(fish("lagoon --models-dir models gen"), ElementsAre("generate"));
  EXPECT_THAT(fish("lagoon generate --temp"), ElementsAre("--temperature"));
  EXPECT_THAT(fish("lagoon generate nano --kv "), UnorderedElementsAre("bf16", "f32"));
  EXPECT_THAT(fish("lagoon generate nano --kv=f"), ElementsAre("--kv=f32"));
  EXPECT_THAT(fish("lagoon generate --models-dir models my"), ElementsAre("my model"));
  EXPECT_THAT(fish("lagoon generate --models-dir=models o"), UnorderedElementsAre("o'dd $x(1)", "org/name"));
  EXPECT_THAT(fish("lagoon generate na"), ElementsAre("nano"));
  EXPECT_THAT(fish("lagoon plan s-2.1-oq4"), ElementsAre("s-2.1-oq4e"));
  EXPECT_THAT(fish("lagoon completion z"), ElementsAre("zsh"));
  EXPECT_THAT(fish("lagoon generate nano --messages ask"), ElementsAre("ask.fish"));
}

TEST_F(Completion, ZshCompletesCommandsFlagsWordsModelsAndFiles) {
  EXPECT_EQ(zsh("lagoon gen"), "lagoon generate ");
  EXPECT_EQ(zsh("lagoon --models-dir models gen"), "lagoon --models-dir models generate ");
  EXPECT_EQ(zsh("lagoon generate --temp"), "lagoon generate --temperature=");
  EXPECT_EQ(zsh("lagoon generate nano --kv f"), "lagoon generate nano --kv f32 ");
  EXPECT_EQ(zsh("lagoon generate nano --kv=f"), "lagoon generate nano --kv=f32 ");
  EXPECT_EQ(zsh("lagoon generate --models-dir models my"), "lagoon generate --models-dir models my\\ model ");
  EXPECT_EQ(zsh("lagoon --models-dir models generate o\\'"), "lagoon --models-dir models generate o\\'dd\\ \\$x\\(1\\) ");
  EXPECT_EQ(zsh("lagoon plan s-2.1-oq4"), "lagoon plan s-2.1-oq4e ");
  EXPECT_EQ(zsh("lagoon completion f"), "lagoon completion fish ");
  EXPECT_EQ(zsh("lagoon --models-dir mod"), "lagoon --models-dir models/");
}

}  // namespace
}  // namespace lagoon
