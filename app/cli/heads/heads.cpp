#include "app/cli/heads/measured_heads.h"
#include "app/cli/prompts/prompt_results.h"
#include "app/cli/prompts/prompt_run.h"
#include "app/cli/prompts/prompts_option.h"
#include "app/cli/subcommands.h"
#include "app/cli/usage.h"
#include "app/draw/kit/format.h"
#include "core/analysis/prompts/place_statistics.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/json.h"
#include "core/format/number_text.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

namespace headscope::cli {

namespace {

using analysis::HeadScore;
using analysis::HeadScoreInfo;

struct HeadsOptions {
    HeadsInput input;
    PromptsOption prompts;
    std::optional<std::string> scores, out, haystack, needle, question;
    bool json = false, effect = false;
};

/// Returns true for a score that needs a second checkpoint, which `headscope diff` compares.
bool is_of_diff(const HeadScoreInfo& info) {
    return info.of == analysis::ScoreSource::comparison;
}

std::string score_ids() {
    std::vector<std::string> ids;
    for (const HeadScoreInfo& info : analysis::head_scores())
        if (!is_of_diff(info))
            ids.emplace_back(info.id);
    return joined(ids);
}

/// Returns the definitions of the scores, for the end of the help text.
std::string definitions() {
    std::string text = "Scores of a head's weights A (rows that may not attend to any key are left out):\n";
    for (const HeadScoreInfo& info : analysis::head_scores()) {
        if (is_of_diff(info))
            continue;
        std::string id(info.id);
        id.resize(std::max<std::size_t>(id.size() + 1, 16), ' ');
        text += "  " + id + std::string(info.formula.english) +
                (info.source.empty() ? "" : " (" + std::string(info.source.english) + ")") + "\n";
    }
    return text + "A head with most of its weight on the first token has the label of its remaining weight, "
                  "if that has a pattern: \"apart from the first token\".\n";
}

Scores named_scores(const std::string& names) {
    Scores wanted;
    for (const std::string& part : CLI::detail::split(names, ',')) {
        const std::string id = CLI::detail::trim_copy(part);
        const HeadScoreInfo* const info = analysis::find_head_score(id);
        if (info == nullptr || is_of_diff(*info))
            fail_input("there is no score \"" + id + "\"; the scores are " + score_ids());
        if (std::ranges::find(wanted, info) != wanted.end())
            fail_input("the score " + id + " is named twice; name each once");
        wanted.push_back(info);
    }
    return wanted;
}

/// Returns the scores of --scores, else all except those that take many runs; plus those that other options
/// request.
Scores wanted_scores(const HeadsOptions& options) {
    Scores wanted;
    if (options.scores)
        wanted = named_scores(*options.scores);
    else
        for (const HeadScoreInfo& info : analysis::head_scores())
            if (!analysis::is_asked_for(info) && !is_of_diff(info))
                wanted.push_back(&info);
    for (const auto& [asked, score] :
         {std::pair(options.effect, HeadScore::effect), {options.needle.has_value(), HeadScore::retrieval}})
        if (asked && !wants(wanted, score))
            wanted.push_back(&analysis::info_of(score));
    return wanted;
}

/// Removes scores that no head has a value for.
Scores measured_scores(const std::vector<MeasuredHead>& rows, Scores scores) {
    std::erase_if(scores, [&](const HeadScoreInfo* info) {
        return std::ranges::none_of(rows,
                                    [&](const MeasuredHead& row) { return row.score(*info).has_value(); });
    });
    return scores;
}

std::string number_or(const std::optional<float>& number, const char* absent) {
    std::string text;
    if (number)
        format::append_number(text, *number);
    return number ? text : absent;
}

std::string as_json(const std::vector<MeasuredHead>& rows, const Scores& scores, bool hide_first) {
    std::string text = "[";
    for (const MeasuredHead& row : rows) {
        text += text.size() == 1 ? "\n " : ",\n ";
        text += row.sequence ? "{\"sequence\": " + std::to_string(*row.sequence) + ", " : "{";
        text += "\"layer\": " + std::to_string(row.layer) + ", \"head\": " + std::to_string(row.head) +
                ", \"label\": \"" + std::string(row.metrics.label()) + "\"";
        text += row.metrics.beside_first ? ", \"beside_first_token\": true" : "";
        text += hide_first ? ", \"hide_first_token\": true" : "";
        for (const HeadScoreInfo* info : scores)
            text += ", \"" + std::string(info->id) + "\": " + number_or(row.score(*info), "null");
        if (!row.warnings.empty())
            text += ", \"warnings\": " + dump_json(nlohmann::json(row.warnings));
        text += "}";
    }
    return text + "\n]\n";
}

/// Returns the cells row by row, starting with the headings.
std::vector<std::vector<std::string>> cells_of(const std::vector<MeasuredHead>& rows, const Scores& scores) {
    const bool sequences = !rows.empty() && rows.front().sequence.has_value();
    std::vector<std::vector<std::string>> cells(1);
    if (sequences)
        cells.front().emplace_back("sequence");
    for (const char* name : {"layer", "head", "label"})
        cells.front().emplace_back(name);
    for (const HeadScoreInfo* info : scores)
        cells.front().emplace_back(info->id);
    for (const MeasuredHead& row : rows) {
        std::vector<std::string>& line = cells.emplace_back();
        if (sequences)
            line.push_back(std::to_string(*row.sequence));
        line.push_back(std::to_string(row.layer));
        line.push_back(std::to_string(row.head));
        line.push_back(std::string(row.metrics.label()) +
                       (row.metrics.beside_first ? " (apart from the first token)" : ""));
        for (const HeadScoreInfo* info : scores)
            line.push_back(number_or(row.score(*info), ""));
    }
    return cells;
}

std::string as_csv(const std::vector<MeasuredHead>& rows, const Scores& scores) {
    std::string text;
    for (const std::vector<std::string>& line : cells_of(rows, scores))
        text += joined(line, {}, ",") + '\n';
    return text;
}

/// Returns columns as text: numbers with four decimals, "-" for a score that does not apply.
std::string as_text(const std::vector<MeasuredHead>& rows, const Scores& scores) {
    std::vector<std::vector<std::string>> cells = cells_of(rows, scores);
    for (std::size_t r = 1; r < cells.size(); ++r)
        for (std::size_t s = 0; s < scores.size(); ++s) {
            std::string& cell = cells[r][cells[r].size() - scores.size() + s];
            const std::optional<float> score = rows[r - 1].score(*scores[s]);
            cell = score ? app::number(static_cast<double>(*score), 4) : "-";
        }
    std::vector<std::size_t> widths(cells.front().size(), 0);
    for (const std::vector<std::string>& line : cells)
        for (std::size_t c = 0; c < line.size(); ++c)
            widths[c] = std::max(widths[c], line[c].size());
    std::string text;
    for (const std::vector<std::string>& line : cells) {
        std::string out;
        for (std::size_t c = 0; c < line.size(); ++c)
            out += (c == 0 ? "" : "  ") + line[c] + std::string(widths[c] - line[c].size(), ' ');
        text += out.substr(0, out.find_last_not_of(' ') + 1) + '\n';
    }
    return text;
}

void check_usage(const CLI::App& command, const HeadsOptions& options, const Scores& scores) {
    const HeadsInput& input = options.input;
    const std::string out = options.out.value_or("-");
    const std::string suffix = std::filesystem::path(out).extension().string();
    if (options.prompts.given())
        check_set_output(out, options.json);
    else if (out != "-" && suffix != ".json" && suffix != ".csv")
        fail_input("-o " + out + ": the scores are written as .json or .csv; use one of these endings");
    if (options.json && suffix == ".csv")
        fail_usage("--json and -o " + out + " were given; give one of them");
    if (input.model.given() && input.problem.seed() && !input.probe)
        fail_usage("--seed applies only to a probe; leave it out, or add --probe");
    if (input.batch && !input.probe && !input.attention)
        fail_usage(
            "--batch applies to a probe or to a file of attention weights; add --probe or --attention");
    if (input.model.stack_name() && !input.model.given() && !input.attention)
        fail_usage("--stack is one attention of an encoder-decoder; add --model or --attention");
    if (input.position && !wants(scores, HeadScore::effect))
        fail_usage("--position says where the effect is measured; add --effect");
    if (wants(scores, HeadScore::retrieval) && !input.model.given())
        fail_usage("retrieval is measured on the text that a checkpoint writes; add --model");
    if (!wants(scores, HeadScore::retrieval))
        for (const char* name : {"--haystack", "--lengths", "--depths"})
            if (command.get_option(name)->count() > 0)
                fail_usage(std::string(name) +
                           " applies only to the score retrieval; add --scores retrieval or --needle");
}

void read_needle(HeadsOptions& options) {
    analysis::NeedleOptions& needle = options.input.needle;
    if (options.haystack)
        needle.haystack = read_file(*options.haystack, text::most_text_bytes);
    if (options.needle)
        needle.needle = *options.needle;
    if (options.question)
        needle.question = *options.question;
}

/// Returns the rows as one line of JSON in which every score is a number with a fraction.
std::string scores_json(const std::vector<MeasuredHead>& rows, const Scores& scores, bool hide_first) {
    auto list = nlohmann::ordered_json::parse(as_json(rows, scores, hide_first));
    for (auto& row : list)
        for (const HeadScoreInfo* info : scores)
            if (row[std::string(info->id)].is_number())
                row[std::string(info->id)] = row[std::string(info->id)].get<double>();
    return dump_json(list);
}

/// Returns the rows of a mean or spread of such lists.
std::vector<MeasuredHead> heads_of_json(const nlohmann::ordered_json& list) {
    std::vector<MeasuredHead> rows;
    for (const auto& one : list) {
        MeasuredHead& row = rows.emplace_back();
        row.layer = one.at("layer").get<std::int64_t>();
        row.head = one.at("head").get<std::int64_t>();
        row.metrics.beside_first = one.contains("beside_first_token");
        const std::string label = one.value("label", std::string());
        for (const HeadScoreInfo& info : analysis::head_scores()) {
            const std::string id(info.id);
            if (one.contains(id) && one[id].is_number())
                row.metrics.set(info.score, one[id].get<float>());
            if (!label.empty() && info.label.text.english == label)
                row.metrics.labelled = info.score;
        }
    }
    return rows;
}

/// Returns the mean and the spread of the scores as two tables.
std::string set_as_text(const PromptResults& results, const HeadsOptions& options, const Scores& scores) {
    const auto table = [&](const nlohmann::ordered_json& list) {
        const std::vector<MeasuredHead> rows = heads_of_json(list);
        return as_text(rows, options.scores ? scores : measured_scores(rows, scores));
    };
    return "mean over " + app::counted(std::ssize(results.lines), "prompt") + "\n" +
           table(analysis::mean_of_results(results.results)) + "\nspread (standard deviation)\n" +
           table(analysis::spread_of_results(results.results));
}

void run_heads_set(const CLI::App& command, const HeadsOptions& options, const Scores& scores) {
    const analysis::PromptSet set = analysis::PromptSet::open(options.prompts.path());
    HeadsOfTexts texts(options.input, scores);
    PromptRun run{.set = set,
                  .out = options.out.value_or("-"),
                  .computation = computation_text(command, *texts.model().model),
                  .compute = [&](const analysis::Prompt& prompt) {
                      return scores_json(texts.measure(prompt.text()), scores, options.input.hide_first);
                  }};
    if (!options.json)
        run.as_text = [&](const PromptResults& results) { return set_as_text(results, options, scores); };
    run_prompts(run);
}

void run_heads(const CLI::App& command, HeadsOptions& options) {
    const Scores scores = wanted_scores(options);
    check_usage(command, options, scores);
    if (options.prompts.given())
        return run_heads_set(command, options, scores);
    read_needle(options);
    options.input.probe_options.seed =
        options.input.problem.seed().value_or(options.input.probe_options.seed);
    options.input.probe_options.batch = options.input.batch.value_or(options.input.probe_options.batch);
    const std::vector<MeasuredHead> rows = measured_heads(options.input, scores);
    const std::string out = options.out.value_or("-");
    const std::string suffix = std::filesystem::path(out).extension().string();
    const bool json = options.json || suffix == ".json";
    write_file_atomically(out, json ? as_json(rows, scores, options.input.hide_first)
                               : suffix == ".csv"
                                   ? as_csv(rows, scores)
                                   : as_text(rows, options.scores ? scores : measured_scores(rows, scores)));
}

/// Adds the options of a checkpoint for input other than one text.
void add_measures(CLI::App& command, HeadsOptions& options) {
    const std::string group = "A checkpoint";
    CLI::Option* const model = command.get_option("--model");
    HeadsInput& input = options.input;
    CLI::Option* const probe =
        command
            .add_flag("--probe", input.probe,
                      "measure on random tokens, repeated once; each score is the mean over the texts")
            ->group(group)
            ->needs(model);
    command
        .add_option("--length", input.probe_options.length,
                    "number of random tokens in a text of the probe (default 50)")
        ->group(group)
        ->needs(probe);
    command
        .add_option(
            "--batch", input.batch,
            "with --probe: its number of texts (default 8); with --attention: the text of a file that "
            "holds several, from 0")
        ->group(group);
    // Elsewhere --seed applies to a sentence; here also to the probe.
    CLI::Option* const seed = command.get_option("--seed");
    seed->remove_excludes(model);
    model->remove_excludes(seed);
    command
        .add_flag("--effect", options.effect,
                  "add the score effect: ablate each head separately, on the CPU, and compare predictions")
        ->group(group)
        ->needs(model);
    command
        .add_option("--position", input.position,
                    "the token after which the prediction is compared, from 0 (default: the last)")
        ->group(group)
        ->needs(model);
}

/// Adds the options for the score retrieval.
void add_needle(CLI::App& command, HeadsOptions& options) {
    const std::string group = "A needle in a haystack";
    CLI::Option* const model = command.get_option("--model");
    analysis::NeedleOptions& needle = options.input.needle;
    needle = analysis::usual_needle();
    CLI::Option* const sentence =
        command
            .add_option("--needle", options.needle,
                        "add the score retrieval: a sentence that is hidden in a long text (default: \"" +
                            needle.needle + "\")")
            ->group(group)
            ->needs(model);
    CLI::Option* const question =
        command
            .add_option("--question", options.question,
                        "the end of the text, which the model continues (default: \"" + needle.question +
                            "\")")
            ->group(group)
            ->needs(sentence);
    sentence->needs(question);
    command
        .add_option("--haystack", options.haystack,
                    "a file with the long text (default: one that comes with the program)")
        ->group(group)
        ->needs(model);
    command
        .add_option("--lengths", needle.lengths,
                    "a comma list of lengths of the haystack in tokens (default: a quarter, a half and all "
                    "of the positions of the model)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->group(group)
        ->needs(model);
    command
        .add_option(
            "--depths", needle.depths,
            "number of positions of the needle, from the beginning of the haystack to its end (default 10)")
        ->group(group)
        ->needs(model);
}

} // namespace

void add_heads(CLI::App& program) {
    CLI::App& command = *program.add_subcommand("heads", "measure what each head does: one row per head");
    const auto options = std::make_shared<HeadsOptions>();
    options->input.problem.add_to(command);
    options->input.model.add_to(command, "measure the heads of one layer (default: all layers)");
    options->input.model.add_stack_to(command);
    CLI::Option* const attention =
        command.add_option("--attention", options->input.attention,
                           "attention weights of any model: a .npy, .npz or .safetensors file, or JSON for "
                           "CircuitsVis");
    command.get_option("--stack")->remove_needs(command.get_option("--model"));
    exclude_problem(command, *attention);
    for (const char* name : {"--model", "--gain", "--temperature"})
        attention->excludes(command.get_option(name));
    command.add_flag(
        "--hide-first-token", options->input.hide_first,
        "measure every score of the weights without the first token's column, each row renormalized to 1; "
        "rows that read nothing else are left out. JSON says hide_first_token");
    add_measures(command, *options);
    add_needle(command, *options);
    options->prompts.add_to(command, "text (or clean)",
                            {"--text", "--ids", "--text-file", "--text-pair", "--inputs", "--decoder-text",
                             "--decoder-ids", "--probe", "--needle", "--attention"});
    command.get_option("--prompts")->group("A checkpoint")->needs(command.get_option("--model"));
    command.add_option("--scores", options->scores,
                       "a comma list (default: all that the input allows, except effect and retrieval) of " +
                           score_ids());
    command.add_option(
        "-o,--output", options->out,
        "the .json or .csv file to write, for --prompts also .safetensors (default: a table on "
        "standard output)");
    command.add_flag("--json", options->json, "print JSON");
    command.footer(definitions());
    command.callback([options, &command] { run_heads(command, *options); });
}

} // namespace headscope::cli
