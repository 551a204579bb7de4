// bench: how fast a model runs on this machine, beside what the machine could do at most.
#include "commands/bench.h"

#include "base/byte_size.h"
#include "base/checked.h"
#include "base/error.h"
#include "benchmark/plot.h"
#include "benchmark/report.h"
#include "checkpoint/synthetic.h"
#include "commands/command.h"
#include "commands/interrupt.h"
#include "commands/model_choice.h"
#include "commands/model_options.h"
#include "commands/model_runner.h"
#include "commands/option_checks.h"
#include "commands/output.h"
#include "commands/version.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <new>

namespace lagoon {

namespace {

/// Prompts beyond this are read once, however often the answer is repeated.
constexpr int64_t longest_repeated_prompt = 4096;

constexpr int64_t most_prompt = int64_t{1} << 30;
constexpr int most_sequences = 256;

/// "1k" is 1024; a list with commas.
std::vector<int64_t> parse_list(const std::string& text, const char* flag, int64_t most) {
  std::vector<int64_t> numbers;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string_view item(text.data() + begin, end - begin);
    const bool thousand = !item.empty() && (item.back() == 'k' || item.back() == 'K');
    if (thousand) item.remove_suffix(1);
    int64_t number = 0;
    const auto [stop, error] = std::from_chars(item.data(), item.data() + item.size(), number);
    const bool whole = error == std::errc() && stop == item.data() + item.size();
    if (thousand && whole && number <= most) number *= 1024;
    if (!whole || number < 1 || number > most) {
      fail(ErrorKind::invalid, "{} `{}`: write numbers from 1 to {} with commas between them, such as {}", flag, printable(text), most,
           most == most_sequences ? "1,2,4,8" : "1k,4k");
    }
    numbers.push_back(number);
    begin = end + 1;
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

/// Those of the prompts asked for; without --prompts those of the usual ones that fit the checkpoint's context.
std::vector<int64_t> prompts_of(const BenchFlags& flags, int64_t max_context) {
  if (!flags.prompts.empty()) return parse_list(flags.prompts, "--prompts", most_prompt);
  std::vector<int64_t> prompts = {1024, 4096};
  std::erase_if(prompts, [&](int64_t prompt) { return prompt + flags.generate > max_context; });
  if (prompts.empty()) prompts.push_back(std::max<int64_t>(1, max_context - flags.generate));
  return prompts;
}

/// What is measured, in order: one sequence at every depth, then several sequences with the shortest prompt.
std::vector<SpeedCase> cases_of(const BenchFlags& flags, int64_t max_context) {
  const std::vector<int64_t> prompts = prompts_of(flags, max_context);
  std::vector<SpeedCase> cases;
  for (const int64_t prompt : prompts) {
    const int prefills = prompt > longest_repeated_prompt ? 1 : flags.repeats;
    cases.push_back({.prompt_tokens = prompt, .generated_tokens = flags.generate, .repeats = flags.repeats, .prefills = prefills});
  }
  for (const int64_t sequences : parse_list(flags.batches, "--batches", most_sequences)) {
    if (sequences == 1) continue;  // the first of the cases above
    SpeedCase batch = cases.front();
    batch.sequences = static_cast<int>(sequences);
    cases.push_back(batch);
  }
  return cases;
}

/// Positions of the longest sequence: --context, or as many as the cases need.
int64_t context_of(const BenchFlags& flags, const std::vector<SpeedCase>& cases) {
  int64_t need = 0;
  for (const SpeedCase& one : cases) need = std::max(need, one.prompt_tokens + one.generated_tokens);
  if (flags.runner.context == 0) return need;
  if (flags.runner.context < need) {
    fail(ErrorKind::invalid, "--context {}: the longest prompt and its answer are {} tokens; raise --context or shorten --prompts",
         format_count(static_cast<uint64_t>(flags.runner.context)), format_count(static_cast<uint64_t>(need)));
  }
  return flags.runner.context;
}

int most_sequences_of(const std::vector<SpeedCase>& cases) {
  int most = 1;
  for (const SpeedCase& one : cases) most = std::max(most, one.sequences);
  return most;
}

/// The plan of the case that keeps most, and what measuring needs at least.
PlanRequest plan_of(const ModelConfig& config, const CpuModelOptions& options, const std::vector<SpeedCase>& cases) {
  PlanRequest plan = {.model = options, .logit_rows = most_sequences_of(cases)};
  uint64_t most = 0;
  for (const SpeedCase& one : cases) {
    const int64_t positions = one.prompt_tokens + one.generated_tokens;
    uint64_t bytes = 0;
    for (const MemoryLine& line : CpuModel::sequence_lines(config, options_of(plan), positions)) bytes = saturating_add(bytes, line.bytes);
    bytes = saturating_multiply(bytes, static_cast<uint64_t>(one.sequences));
    if (bytes < most) continue;
    most = bytes;
    plan.sequences = one.sequences;
    plan.positions = positions;
  }
  plan.more = {{ReadBandwidth::line_name, ReadBandwidth::least_bytes, "the least buffer; more where there is room"}};
  return plan;
}

/// Room for every sequence of a batch in one step.
void check_batches(const std::vector<SpeedCase>& cases, const CpuModelOptions& options) {
  const int most = most_sequences_of(cases);
  if (most > std::min(options.step_rows, options.context)) {
    fail(ErrorKind::invalid, "--batches: {} sequences are asked for, a step has room for {} tokens; lower --batches or raise {}", most,
         std::min(options.step_rows, options.context), options.context < options.step_rows ? "--context" : "--chunk");
  }
}

/// As large as memory allows: where a limit that check_memory() does not know of (ulimit -v) is in the way, a smaller one.
/// @param left  bytes beside the least buffer
std::unique_ptr<ReadBandwidth> make_bandwidth(std::optional<uint64_t> left, MemoryBudget& budget) {
  uint64_t bytes = ReadBandwidth::usual_bytes(left ? std::optional(*left + ReadBandwidth::least_bytes) : std::nullopt);
  // Tried untouched and given back, so that the ledger's peak knows of one buffer alone.
  while (bytes > ReadBandwidth::least_bytes && !std::unique_ptr<std::byte[]>(new (std::nothrow) std::byte[bytes]))
    bytes = std::max(bytes / 2, ReadBandwidth::least_bytes);
  return std::make_unique<ReadBandwidth>(bytes, budget);
}

std::string name_of(const SpeedCase& one) {
  const std::string prompt = fmt::format("prompt of {} tokens", one.prompt_tokens);
  return one.sequences == 1 ? prompt : fmt::format("{} sequences, {}", one.sequences, prompt);
}

/// Runs the cases until all are done or a signal comes; what is done is in the report either way.
/// @return false if a signal came
bool run_cases(const std::vector<SpeedCase>& cases, SpeedRun& run, const Environment& environment, SpeedReport& report) {
  const auto watched = [](ProgressLine& progress) {
    return [&progress](int64_t done, int64_t total) {
      check_interrupt();
      progress.update(static_cast<uint64_t>(done), static_cast<uint64_t>(total));
    };
  };
  try {
    {
      ProgressLine progress(environment.error_is_terminal, "warming up", "tokens");
      run.warm_up(watched(progress));
    }
    for (const SpeedCase& one : cases) {
      ProgressLine progress(environment.error_is_terminal, name_of(one), "tokens");
      report.results.push_back(run.measure(one, watched(progress)));
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::cancelled) throw;
    return false;
  }
  return true;
}

PictureForm picture_form(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".svg") return PictureForm::svg;
  if (extension == ".png") return PictureForm::png;
  fail(ErrorKind::invalid, "--plot {}: the picture's form is told by the name's end; name a file that ends in .svg or .png", printable(path));
}

TableForm table_form(const std::string& format) {
  return format == "markdown" ? TableForm::markdown : format == "csv" ? TableForm::csv : TableForm::aligned;
}

void print_report(const BenchFlags& flags, const SpeedReport& report, const LoadedModel& loaded) {
  if (flags.format == "json") {
    Json object = report_to_json(report, flags.profile);
    object["memory"] = memory_report_json(loaded);
    write_output(object.dump(2) + "\n");
    return;
  }
  write_output(format_report(report, table_form(flags.format), flags.profile));
}

void write_plot(const std::string& path, const SpeedReport& report) {
  DurableWriter writer(path);
  writer.write(draw_speed_plot(report, picture_form(path)));
  writer.commit();
}

int run_model(const BenchFlags& flags, const Environment& environment) {
  if (!flags.prompts.empty()) (void)prompts_of(flags, 0);  // what is written wrongly is told before anything is opened
  const std::string name = flags.synthetic.empty() ? flags.model : flags.synthetic;
  const Checkpoint checkpoint =
      flags.synthetic.empty() ? open_weights(flags.model, environment) : open_synthetic(parse_synthetic_spec(flags.synthetic));
  const std::vector<SpeedCase> cases = cases_of(flags, checkpoint.config().max_context);
  const int64_t context = context_of(flags, cases);
  const CpuModelOptions options = runner_options(flags.runner, checkpoint.config(), context);
  check_batches(cases, options);
  if (!flags.plot.empty()) DurableWriter{flags.plot};  // a path that cannot be written is told before hours of measuring
  LoadedModel loaded = load_model(printable(name), checkpoint, plan_of(checkpoint.config(), options, cases), flags.runner, environment);

  WorkerPool pool(options.threads);
  const std::unique_ptr<ReadBandwidth> bandwidth = make_bandwidth(loaded.memory_left, *loaded.budget);
  for (PlanLine& line : loaded.plan.lines) {
    if (line.name == ReadBandwidth::line_name) line.bytes = bandwidth->bytes();
  }
  SpeedReport report = {.version = version(),
                        .commit = commit(),
                        .command = environment.command_line,
                        .machine = processor_name(),
                        .features = describe(detect_cpu_features()),
                        .model = printable(name, 4096),
                        .kernel_set = loaded.model->kernels().name,
                        .threads = options.threads};
  SpeedRun run(*loaded.model, *bandwidth, pool, most_sequences_of(cases), *loaded.budget);
  const bool whole = run_cases(cases, run, environment, report);
  report.limits = run.limits();
  std::vector<double> bandwidths;
  for (const SpeedResult& result : report.results) bandwidths.push_back(result.read_bandwidth.median);
  report.limits.read_bandwidth = bandwidths.empty() ? bandwidth->measure(pool) : spread_of(std::move(bandwidths)).median;
  print_report(flags, report, loaded);
  if (flags.runner.memory_report) environment.console.report(memory_report(loaded));
  if (!flags.plot.empty() && !report.results.empty()) write_plot(flags.plot, report);
  if (whole) return 0;
  environment.console.error(fmt::format("stopped; {} of {} cases were done", report.results.size(), cases.size()));
  return interrupt_exit_code();
}

int compare(const BenchFlags& flags) {
  constexpr uint64_t limit = 64 << 20;
  const auto read = [&](const std::string& path) { return read_report(read_text(SystemFiles(), path, limit), printable(path)); };
  const ComparedReport first = read(flags.compare.at(0));
  const ComparedReport second = read(flags.compare.at(1));
  const Table table = compare_reports(first, second);
  const TableForm form = table_form(flags.format);
  if (form != TableForm::csv) write_output(fmt::format("first: {}\nthen:  {}\n\n", first.label, second.label));
  write_output(table.format(form));
  return 0;
}

void check_flags(const BenchFlags& flags) {
  const int subjects = static_cast<int>(!flags.model.empty()) + static_cast<int>(!flags.synthetic.empty()) + static_cast<int>(flags.machine) +
                       static_cast<int>(!flags.compare.empty());
  if (subjects != 1) fail(ErrorKind::invalid, "bench needs one of these: MODEL, --synthetic SPEC, --machine, or --compare A.json B.json");
  const auto formats = {"text", "markdown", "json", "csv"};
  if (std::find(formats.begin(), formats.end(), flags.format) == formats.end())
    fail(ErrorKind::invalid, "--format `{}`: write text, markdown, json or csv", printable(flags.format));
  if (!flags.compare.empty() && flags.format == "json") fail(ErrorKind::invalid, "--compare prints a table: --format is text, markdown or csv");
  if (flags.machine && flags.format != "text" && flags.format != "json") fail(ErrorKind::invalid, "--machine: --format is text or json");
  if (!flags.plot.empty()) (void)picture_form(flags.plot);
}

int run(const BenchFlags& flags, const Environment& environment) {
  check_flags(flags);
  if (!flags.compare.empty()) return compare(flags);
  if (flags.machine) return run_machine(flags, environment);
  return run_model(flags, environment);
}

}  // namespace

Command declare_bench(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("bench", "Measure speed beside the bounds of this machine");
  auto flags = std::make_shared<BenchFlags>();
  parser->add_option("MODEL", flags->model, model_help)->check(not_empty());
  of_one_run(parser->add_option("--synthetic", flags->synthetic, "random weights of a published shape, made in memory: " + synthetic_spec_help()))
      ->check(not_empty())
      ->type_name("SPEC");
  CLI::Option* machine = of_one_run(parser->add_flag("--machine", flags->machine, "measure the machine alone: memory, arithmetic, threads, disk"));
  of_one_run(parser->add_option("--disk", flags->disk, "with --machine: a file of 64 MiB or more to read from the disk"))
      ->check(not_empty())
      ->type_name("FILE")
      ->needs(machine);
  CLI::Option* compare =
      of_one_run(parser->add_option("--compare", flags->compare, "two files that --format json wrote"))->expected(2)->type_name("FILE");
  parser->add_option("--prompts", flags->prompts, "prompt lengths in tokens; k is 1024 (1k,4k as far as the context goes)")
      ->check(not_empty())
      ->type_name("LIST");
  number_in(parser->add_option("--generate", flags->generate, "tokens of each answer, 2 or more"), 2, most_prompt)->capture_default_str();
  parser->add_option("--batches", flags->batches, "numbers of sequences that run at once, with the shortest prompt")
      ->type_name("LIST")
      ->capture_default_str();
  number_in(parser->add_option("--repeats", flags->repeats, "answers to each prompt, 1 to 100; prompts up to 4096 tokens are repeated too"), 1, 100)
      ->capture_default_str();
  number_in(parser->add_option("--context", flags->runner.context, "positions of the longest sequence (as many as the prompts need)"), 1);
  one_of(parser->add_option("--format", flags->format, "how the answer is written"), {"text", "markdown", "json", "csv"})->capture_default_str();
  of_one_run(parser->add_option("--plot", flags->plot, "also draw speed over depth into a file that ends in .svg or .png"))
      ->check(not_empty())
      ->type_name("FILE");
  parser->add_flag("--profile", flags->profile, "also where the time went");
  add_runner_flags(*parser, flags->runner);
  refuse_speculation(*parser);
  for (const char* of_a_model :
       {"--prompts", "--generate", "--batches", "--repeats", "--context", "--plot", "--profile", "--kernels", "--precision", "--chunk"}) {
    machine->excludes(parser->get_option(of_a_model));
    compare->excludes(parser->get_option(of_a_model));
  }
  compare->excludes(parser->get_option("--threads"));
  return {parser,
          [flags](const Environment& environment) { return run(*flags, environment); },
          {{"lagoon bench nano --prompts 64 --generate 8 --batches 1 --repeats 1", "a short measurement of one sequence"},
           {"lagoon bench --synthetic mini:4/64,layers=1 --prompts 16 --generate 4 --batches 1,2 --repeats 1 --format csv",
            "random weights, one and two sequences, as CSV"}}};
}

}  // namespace lagoon
