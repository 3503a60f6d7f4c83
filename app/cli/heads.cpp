#include "app/cli/model_options.h"
#include "app/cli/problem_options.h"
#include "app/cli/subcommands.h"
#include "app/cli/usage.h"
#include "app/draw/kit/format.h"
#include "core/analysis/heads/head_facts.h"
#include "core/base/file.h"
#include "core/engine/engine.h"
#include "core/format/attention_file.h"
#include "core/format/number_text.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

namespace headscope::cli {

namespace {

using analysis::HeadScoreInfo;
using Scores = std::vector<const HeadScoreInfo*>;

struct HeadsOptions {
    ProblemOptions problem;
    ModelOptions model;
    std::optional<std::string> attention, scores, out;
    bool json = false;
};

/// One head that was measured. Of a batch, or of a file of sequences, `sequence` tells which one.
struct MeasuredHead {
    std::optional<std::int64_t> sequence;
    std::int64_t layer = 0, head = 0;
    std::int64_t Tq = 0, Tk = 0;
    bool with_share = true;
    bool same_tokens = true; ///< queries and keys are those of one text, or nobody knows
    analysis::HeadMetrics metrics;

    std::string_view label() const {
        const bool of_positions = metrics.labelled && analysis::info_of(*metrics.labelled).positions;
        return of_positions && !same_tokens ? std::string_view() : metrics.label();
    }
    std::optional<float> score(const HeadScoreInfo& info) const {
        const bool known =
            (with_share || info.score != analysis::HeadScore::share) && (same_tokens || !info.positions);
        return known && analysis::score_applies(info.score, Tq, Tk) ? std::optional(metrics[info.score])
                                                                    : std::nullopt;
    }
};

std::string score_ids() {
    std::string ids;
    for (const HeadScoreInfo& info : analysis::head_scores())
        ids += (ids.empty() ? "" : ", ") + std::string(info.id);
    return ids;
}

/// What each score is, for the end of the help text.
std::string definitions() {
    std::string text = "Scores, of a head's weights A (rows that may attend to nothing are left out):\n";
    for (const HeadScoreInfo& info : analysis::head_scores()) {
        std::string id(info.id);
        id.resize(std::max<std::size_t>(id.size(), 12), ' ');
        text += "  " + id + std::string(info.formula) +
                (info.source.empty() ? "" : " (" + std::string(info.source) + ")") + "\n";
    }
    return text;
}

Scores wanted_scores(const HeadsOptions& options) {
    Scores wanted;
    if (!options.scores) {
        for (const HeadScoreInfo& info : analysis::head_scores())
            wanted.push_back(&info);
        return wanted;
    }
    for (const std::string& part : CLI::detail::split(*options.scores, ',')) {
        const std::string id = CLI::detail::trim_copy(part);
        const HeadScoreInfo* const info = analysis::find_head_score(id);
        if (info == nullptr)
            fail_input("there is no score \"" + id + "\"; the scores are " + score_ids());
        if (std::ranges::find(wanted, info) != wanted.end())
            fail_input("the score " + id + " is named twice; name each once");
        wanted.push_back(info);
    }
    return wanted;
}

StageSet stages_for(const Scores& scores) {
    const auto weights = StageSet().with(TensorId::weights);
    const bool share = std::ranges::any_of(
        scores, [](const HeadScoreInfo* info) { return info->score == analysis::HeadScore::share; });
    return share ? weights.with(TensorId::contributions) : weights;
}

/// The heads of one layer, of each batch entry.
void measure(const Trace& trace, std::int64_t layer, const std::vector<std::string>& key_tokens,
             std::vector<MeasuredHead>& rows) {
    const Dims& d = trace.dims;
    const auto Tk = static_cast<std::size_t>(d.Tk);
    for (std::int64_t b = 0; b < d.B; ++b) {
        // Labels of a batch stand one sequence after the other.
        const auto first = key_tokens.begin() + (key_tokens.size() > Tk ? b * d.Tk : 0);
        const std::vector<std::string> tokens(first, key_tokens.empty() ? first : first + d.Tk);
        const auto all = analysis::head_metrics(trace, b, {}, tokens);
        for (std::int64_t h = 0; h < d.H; ++h)
            rows.push_back({.sequence = d.B > 1 ? std::optional(b) : std::nullopt,
                            .layer = layer,
                            .head = h,
                            .Tq = d.Tq,
                            .Tk = d.Tk,
                            .same_tokens = !trace.parts.cross,
                            .metrics = all[static_cast<std::size_t>(h)]});
    }
}

std::vector<MeasuredHead> heads_of_file(const std::string& path) {
    const AttentionSetPtr set = format::open_attention_file(path);
    const AttentionInfo& info = set->info();
    const bool sequences = info.axis == SetAxis::sequences;
    std::vector<float> weights(static_cast<std::size_t>(info.Tq * info.Tk));
    std::vector<MeasuredHead> rows;
    for (std::int64_t l = 0; l < info.L; ++l) {
        const std::int64_t number = info.numbers[static_cast<std::size_t>(l)];
        for (std::int64_t h = 0; h < info.H; ++h) {
            set->read_head(l, h, weights);
            rows.push_back({.sequence = sequences ? std::optional(number) : std::nullopt,
                            .layer = sequences ? 0 : number,
                            .head = h,
                            .Tq = info.Tq,
                            .Tk = info.Tk,
                            .with_share = false,
                            .metrics = analysis::head_facts(weights, info.Tq, info.Tk, info.sum_tolerance,
                                                            set->key_tokens(l), info.sinks)
                                           .metrics});
        }
    }
    return rows;
}

std::vector<MeasuredHead> measured_heads(const HeadsOptions& options, StageSet stages) {
    if (options.attention)
        return heads_of_file(*options.attention);
    std::vector<MeasuredHead> rows;
    if (options.model.given()) {
        const ModelOptions::Layers run = options.model.run_layers(
            stages, options.problem.gains(), options.problem.temperature(), options.problem.device());
        if (std::ranges::find(run.inputs.attention_mask, 0) != run.inputs.attention_mask.end())
            fail_input("the inputs have padding, whose rows would count in every score; give the tokens of "
                       "one sequence with --text or --ids");
        for (const checkpoint::LayerRun& layer : run.layers)
            measure(layer.trace, layer.place.layer, run.inputs.tokens, rows);
        return rows;
    }
    const app::DocumentPtr document = options.problem.read();
    const Problem& problem = document->problem;
    Progress progress;
    measure(engine::make_engine(options.problem.device())->run(problem, stages, progress), 0,
            problem.cross() ? problem.kv_tokens : problem.tokens, rows);
    return rows;
}

std::string number_or(const std::optional<float>& number, const char* absent) {
    std::string text;
    if (number)
        format::append_number(text, *number);
    return number ? text : absent;
}

std::string as_json(const std::vector<MeasuredHead>& rows, const Scores& scores) {
    std::string text = "[";
    for (const MeasuredHead& row : rows) {
        text += text.size() == 1 ? "\n " : ",\n ";
        text += row.sequence ? "{\"sequence\": " + std::to_string(*row.sequence) + ", " : "{";
        text += "\"layer\": " + std::to_string(row.layer) + ", \"head\": " + std::to_string(row.head) +
                ", \"label\": \"" + std::string(row.label()) + "\"";
        for (const HeadScoreInfo* info : scores)
            text += ", \"" + std::string(info->id) + "\": " + number_or(row.score(*info), "null");
        text += "}";
    }
    return text + "\n]\n";
}

/// Cells row by row, the headings first.
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
        line.emplace_back(row.label());
        for (const HeadScoreInfo* info : scores)
            line.push_back(number_or(row.score(*info), ""));
    }
    return cells;
}

std::string as_csv(const std::vector<MeasuredHead>& rows, const Scores& scores) {
    std::string text;
    for (const std::vector<std::string>& line : cells_of(rows, scores)) {
        for (std::size_t c = 0; c < line.size(); ++c)
            text += (c == 0 ? "" : ",") + line[c];
        text += '\n';
    }
    return text;
}

/// Columns for people: a number has four decimals, what does not apply is "-".
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

void run_heads(const HeadsOptions& options) {
    const std::string out = options.out.value_or("-");
    const std::string suffix = std::filesystem::path(out).extension().string();
    if (out != "-" && suffix != ".json" && suffix != ".csv")
        fail_usage("-o " + out + ": the scores are written as .json or .csv; name the file so");
    if (options.json && suffix == ".csv")
        fail_usage("--json and -o " + out + " were given; give one of them");
    const Scores scores = wanted_scores(options);
    const std::vector<MeasuredHead> rows = measured_heads(options, stages_for(scores));
    const bool json = options.json || suffix == ".json";
    write_file_atomically(out, json               ? as_json(rows, scores)
                               : suffix == ".csv" ? as_csv(rows, scores)
                                                  : as_text(rows, scores));
}

} // namespace

void add_heads(CLI::App& program) {
    CLI::App& command = *program.add_subcommand("heads", "measure what each head does: one row a head");
    const auto options = std::make_shared<HeadsOptions>();
    options->problem.add_to(command);
    options->model.add_to(command, "measure the heads of one layer (default: all layers)");
    options->model.add_stack_to(command);
    CLI::Option* const attention = command.add_option(
        "--attention", options->attention, "attention weights of any model, a .npy or .safetensors file");
    exclude_problem(command, *attention);
    for (const char* name : {"--model", "--gain", "--temperature"})
        attention->excludes(command.get_option(name));
    command.add_option("--scores", options->scores, "a comma list (default: all) of " + score_ids());
    command.add_option("-o,--output", options->out,
                       "the .json or .csv file to write (default: a table on standard output)");
    command.add_flag("--json", options->json, "print JSON");
    command.footer(definitions());
    command.callback([options] { run_heads(*options); });
}

} // namespace headscope::cli
