#include "app/cli/effects/effects_json.h"
#include "app/cli/prompt_option.h"
#include "app/cli/prompts/prompt_run.h"
#include "app/cli/prompts/prompts_option.h"
#include "app/cli/subcommands.h"
#include "app/cli/usage.h"
#include "app/draw/effects/causes_text.h"
#include "app/draw/effects/effects.h"
#include "app/draw/kit/format.h"
#include "core/analysis/effects/direct_projections.h"
#include "core/analysis/effects/logit_attribution.h"
#include "core/analysis/effects/logit_lens.h"
#include "core/analysis/effects/score_terms.h"
#include "core/analysis/effects/vocabulary_circuit.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/checkpoint/generation/predictions.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

namespace headscope::cli {

namespace {

using Json = nlohmann::ordered_json;

struct ExplainOptions {
    EditedModelOption model;
    std::string what, out = "-", ablation = "zero";
    PromptOption prompt;
    PromptsOption prompts;
    DecoderText decoder;
    TokenOption token, against;
    std::optional<std::int64_t> position, layer, head, query, key, top;
    bool json = false, through_mlp = false, answers = false;
};

/// The options that apply only to some values of --what.
const std::vector<OptionOfWhat>& options_of_whats() {
    static const std::vector<std::string> runs{"logits", "lens", "score", "why", "ablation"},
        logits{"logits"}, differences{"logits", "ablation"}, scores{"score"},
        heads{"score", "vocabulary", "composition"}, words{"vocabulary"};
    static const std::vector<OptionOfWhat> options{{"--text", runs},
                                                   {"--prompts", runs},
                                                   {"--answers", differences},
                                                   {"--text-pair", runs},
                                                   {"--ids", runs},
                                                   {"--decoder-text", runs},
                                                   {"--decoder-ids", runs},
                                                   {"--token", {"logits", "ablation", "vocabulary"}},
                                                   {"--token-id", {"logits", "ablation", "vocabulary"}},
                                                   {"--against", differences},
                                                   {"--against-id", differences},
                                                   {"--position", {"logits", "lens", "why", "ablation"}},
                                                   {"--top", {"lens", "vocabulary", "composition"}},
                                                   {"--ablation", {"ablation"}},
                                                   {"--layer", heads},
                                                   {"--head", heads},
                                                   {"--query", scores},
                                                   {"--key", scores},
                                                   {"--through-mlp", words}};
    return options;
}

/// Returns a value that this --what requires.
std::int64_t need(const std::optional<std::int64_t>& value, const char* option, const std::string& what) {
    if (!value)
        fail_usage("--what " + what + " needs " + option + "; add it");
    return *value;
}

std::size_t count_of(const std::optional<std::int64_t>& top) {
    constexpr std::int64_t usual = 5;
    if (top && *top < 1)
        fail_input("--top is " + std::to_string(*top) + "; it should be at least 1");
    return static_cast<std::size_t>(top.value_or(usual));
}

Json token_json(const checkpoint::TextModel& model, std::int64_t id) {
    return {{"id", id}, {"token", spelling_of(model, id)}};
}

/// Computes the explanations of one run.
class Explanation {
public:
    Explanation(const ExplainOptions& options, const checkpoint::TextModel& model)
        : options_(options), model_(model), edits_(options.model.edits(model)) {}

    Json of(const std::string& what) const {
        if (what == "vocabulary")
            return vocabulary();
        Progress progress;
        if (what == "composition")
            return composition(progress);
        const checkpoint::ModelRunPtr run = compute(progress);
        return what == "logits"     ? logits(*run, progress)
               : what == "lens"     ? lens(*run, progress)
               : what == "why"      ? why_json(why(run, progress))
               : what == "ablation" ? ablation(*run, progress)
                                    : score(*run, progress);
    }

    /// The reasons for the prediction, in words.
    std::string why_text() const {
        Progress progress;
        const app::CausesView view = why(compute(progress), progress);
        std::string text = app::causes_title(view) + "\n" + app::causes_sentence(view) + "\n";
        for (const analysis::PredictionCause& cause : view.causes.largest)
            text += "  " + app::signed_number(cause.value, 2) + "  " + app::component_name(cause.writer) +
                    (cause.key < 0 ? "" : "  " + app::cause_detail(view, cause)) + "\n";
        return text + "  " + app::signed_number(view.causes.rest, 2) + "  everything else\n  " +
               app::signed_number(view.causes.difference, 2) + "  " + app::causes_pair(view) + ", logits\n";
    }

private:
    checkpoint::ModelRunPtr compute(Progress& progress) const {
        return checkpoint::ModelRun::compute(model_.model, options_.prompt.read(model_, options_.decoder),
                                             edits_, nullptr, {}, progress);
    }

    app::CausesView why(const checkpoint::ModelRunPtr& run, Progress& progress) const {
        const std::int64_t position = options_.position.value_or(run->inputs().T - 1);
        analysis::require_logit(*run, {.position = position});
        analysis::require_one_stream(run->model());
        return app::causes_view(model_, run, position, {}, progress);
    }

    Json chance_json(const checkpoint::TokenChance& chance) const {
        Json out = token_json(model_, chance.id);
        out["probability"] = chance.probability;
        return out;
    }

    static Json cause_json(const app::CausesView& view, const analysis::PredictionCause& cause) {
        Json out{{"name", cause.writer.name()}, {"value", cause.value}};
        if (cause.key >= 0)
            out["attends_to"] = {{"position", cause.key},
                                 {"token", view.attended(cause)},
                                 {"weight", cause.weights[static_cast<std::size_t>(cause.key)]}};
        return out;
    }

    Json why_json(const app::CausesView& view) const {
        const analysis::PredictionCauses& causes = view.causes;
        Json out{{"sentence", app::causes_sentence(view)},
                 {"position", causes.question.position},
                 {"token", chance_json(causes.likeliest[0])},
                 {"against", chance_json(causes.likeliest[1])},
                 {"logit", causes.difference}};
        if (model_.model->stages().logit_cap() != 0.0)
            out["after_cap"] = causes.capped;
        Json listed = Json::array();
        for (const analysis::PredictionCause& cause : causes.largest)
            listed.push_back(cause_json(view, cause));
        out["causes"] = listed;
        out["rest"] = causes.rest;
        if (!causes.head)
            return out;
        const analysis::GainPrediction& without = *causes.without;
        out["head"] = cause_json(view, *causes.head);
        out["without"] = {{"likeliest", chance_json(without.likeliest.front())},
                          {"token", without.chances[0]},
                          {"against", without.chances[1]},
                          {"logit", without.difference}};
        return out;
    }

    /// Returns the question of --token, --against and --position; without a token, about the likeliest.
    analysis::LogitQuestion question_about(const checkpoint::ModelRun& run, const Progress& cancel) const {
        analysis::LogitQuestion question{.position = options_.position.value_or(run.inputs().T - 1)};
        const std::optional<std::int64_t> token = options_.token.read(model_),
                                          against = options_.against.read(model_);
        if (token || !model_.model->has_head())
            question.token = token.value_or(0);
        else if (question.position >= 0 && question.position < run.inputs().T) {
            const TensorPtr logits = run.logits_at(question.position, cancel);
            checkpoint::require_finite_logits(logits->values(), question.position);
            question.token = checkpoint::likeliest(logits->values(), 1).front().id;
        }
        if (against) {
            question.from = analysis::LogitQuestion::From::token;
            question.against = *against;
        }
        return question;
    }

    Json against_json(const analysis::LogitQuestion& question, const Json& absent) const {
        return question.from == analysis::LogitQuestion::From::token ? token_json(model_, question.against)
                                                                     : absent;
    }

    Json ablation(const checkpoint::ModelRun& run, Progress& progress) const {
        const analysis::LogitQuestion question = question_about(run, progress);
        const analysis::Ablation kind =
            options_.ablation == "mean" ? analysis::Ablation::mean : analysis::Ablation::zero;
        Json effects = ablation_json(run, question, kind, progress);
        Json out{{"ablation", options_.ablation},
                 {"token", token_json(model_, question.token)},
                 {"against", against_json(question, nullptr)},
                 {"position", question.position}};
        out.update(effects);
        return out;
    }

    Json composition(Progress& progress) const {
        if (options_.layer.has_value() != options_.head.has_value())
            fail_usage("a head has a layer and a number; give --layer and --head, or neither");
        return composition_json(
            *model_.model, edits_,
            options_.layer ? std::optional(analysis::HeadPlace{*options_.layer, *options_.head})
                           : std::nullopt,
            options_.top ? std::optional(count_of(options_.top)) : std::nullopt, progress);
    }

    Json logits(const checkpoint::ModelRun& run, const Progress& cancel) const {
        analysis::LogitQuestion question = question_about(run, cancel);
        question.sources = true;
        const analysis::LogitAttribution all = analysis::logit_attribution(run, question, cancel);
        Json out{{"token", token_json(model_, question.token)},
                 {"against", against_json(question, "mean")},
                 {"position", question.position},
                 {"logit", all.logit}};
        if (model_.model->stages().logit_cap() != 0.0)
            out["after_cap"] = all.capped;
        Json components = Json::array(), sources = Json::object();
        for (const analysis::LogitPart& part : all.parts) {
            components.push_back({{"name", part.writer.name()}, {"value", part.value}});
            if (!part.sources.empty())
                sources[part.writer.name()] = part.sources;
        }
        out["writers"] = components;
        out["by_source"] = sources;
        return out;
    }

    Json lens(const checkpoint::ModelRun& run, Progress& progress) const {
        std::vector<std::int64_t> positions(static_cast<std::size_t>(run.inputs().T));
        std::iota(positions.begin(), positions.end(), std::int64_t{0});
        if (options_.position)
            positions = {*options_.position};
        const analysis::LogitLens lens =
            analysis::logit_lens(run, positions, count_of(options_.top), progress);
        Json layers = Json::array();
        for (std::size_t l = 0; l < lens.layers.size(); ++l) {
            Json row = Json::array();
            for (std::size_t n = 0; n < positions.size(); ++n) {
                Json top = Json::array();
                for (const checkpoint::TokenChance& chance : lens.layers[l][n]) {
                    Json entry = token_json(model_, chance.id);
                    entry["probability"] = chance.probability;
                    top.push_back(std::move(entry));
                }
                const std::int64_t id = run.inputs().ids[static_cast<std::size_t>(positions[n])];
                row.push_back({{"position", positions[n]}, {"read", token_json(model_, id)}, {"top", top}});
            }
            layers.push_back({{"layer", l}, {"positions", row}});
        }
        return {{"layers", layers}};
    }

    Json score(const checkpoint::ModelRun& run, const Progress& cancel) const {
        const std::int64_t layer = need(options_.layer, "--layer", "score");
        const checkpoint::ModelConfig& a = model_.model->config();
        if (layer < 0 || layer >= a.layers)
            fail_input("there is no layer " + std::to_string(layer) + "; layers are numbered 0 to " +
                       std::to_string(a.layers - 1));
        const analysis::ScoreTerms all =
            analysis::score_terms(run,
                                  {.attention = attention_number(a, {checkpoint::Stack::own, layer}),
                                   .head = need(options_.head, "--head", "score"),
                                   .query = need(options_.query, "--query", "score"),
                                   .key = need(options_.key, "--key", "score")},
                                  cancel);
        Json names = Json::array(), terms = Json::array(), pairs = Json::array(), wavelengths = Json::array();
        for (std::size_t n = 0; n < all.writers.size(); ++n) {
            names.push_back(all.writers[n].name());
            Json row = Json::array();
            for (std::size_t m = 0; m < all.writers.size(); ++m)
                row.push_back(all.term(n, m));
            terms.push_back(std::move(row));
        }
        Json out{{"scaled", all.scaled}};
        if (model_.model->stages().score_cap({checkpoint::Stack::own, layer}) != 0.0)
            out["after_cap"] = all.capped;
        out["writers"] = names;
        out["terms"] = terms;
        for (const analysis::RotationPair& pair : all.pairs) {
            pairs.push_back(pair.turned);
            wavelengths.push_back(pair.wavelength);
        }
        if (!all.pairs.empty()) {
            out["pairs"] = pairs;
            out["wavelengths"] = wavelengths;
        }
        return out;
    }

    Json vocabulary() const {
        const std::int64_t layer = need(options_.layer, "--layer", "vocabulary"),
                           head = need(options_.head, "--head", "vocabulary");
        const std::optional<std::int64_t> token = options_.token.read(model_);
        if (!token)
            fail_usage("--what vocabulary needs a token; add --token A or --token-id N");
        const checkpoint::ModelConfig& a = model_.model->config();
        if (layer < 0 || layer >= a.layers)
            fail_input("there is no layer " + std::to_string(layer) + "; layers are numbered 0 to " +
                       std::to_string(a.layers - 1));
        const analysis::VocabularyCircuit circuit = analysis::vocabulary_circuit(
            *model_.model, edits_, attention_number(a, {checkpoint::Stack::own, layer}), head, *token,
            options_.through_mlp ? analysis::TokenVector::first_mlp : analysis::TokenVector::embedding,
            count_of(options_.top), Progress());
        const auto list = [&](const std::vector<analysis::CircuitToken>& tokens) {
            Json out = Json::array();
            for (const analysis::CircuitToken& one : tokens) {
                Json entry = token_json(model_, one.id);
                entry["value"] = one.value;
                out.push_back(std::move(entry));
            }
            return out;
        };
        return {{"token", token_json(model_, *token)},
                {"promotes", list(circuit.promoted)},
                {"suppresses", list(circuit.suppressed)},
                {"looks_for", list(circuit.looked_for)}};
    }

    const ExplainOptions& options_;
    const checkpoint::TextModel& model_;
    const checkpoint::ModelEdits edits_;
};

/// Returns the options of a single prompt of a set.
ExplainOptions options_of(const ExplainOptions& all, const analysis::Prompt& prompt,
                          const checkpoint::TextModel& model) {
    ExplainOptions one = all;
    one.prompt.set(prompt.text());
    if (all.answers) {
        one.token.set("answer", prompt.need("answer"), model);
        one.against.set("against", prompt.need("against"), model);
    }
    return one;
}

void explain_set(const CLI::App& command, const ExplainOptions& options) {
    check_set_output(options.out, options.json);
    const analysis::PromptSet set = analysis::PromptSet::open(options.prompts.path());
    const checkpoint::TextModelPtr model = options.model.open();
    run_prompts({.set = set,
                 .out = options.out,
                 .computation = computation_text(command, *model->model),
                 .compute =
                     [&](const analysis::Prompt& prompt) {
                         return dump_json(
                             Explanation(options_of(options, prompt, *model), *model).of(options.what));
                     },
                 .parallel = is_small(*model->model)});
}

void run_explain(const CLI::App& command, const ExplainOptions& options) {
    if (options.prompts.given())
        return explain_set(command, options);
    if (options.answers)
        fail_usage("--answers reads the tokens of each line of a set; add --prompts FILE");
    if (options.what != "vocabulary" && options.what != "composition")
        options.prompt.require();
    const checkpoint::TextModelPtr model = options.model.open();
    const Explanation explanation(options, *model);
    write_file_atomically(options.out, options.what == "why" && !options.json
                                           ? explanation.why_text()
                                           : dump_json(explanation.of(options.what), 1) + "\n");
}

} // namespace

void add_explain(CLI::App& program) {
    CLI::App& command = *program.add_subcommand(
        "explain", "split a prediction or a score into its parts, which add up to it");
    const auto options = std::make_shared<ExplainOptions>();
    options->model.add_to(command);
    options->prompt.add_to(command, "text",
                           "the text that the model reads (vocabulary uses only the weights)");
    options->prompts.add_to(command, "text (or clean) and, for --answers, answer and against",
                            {"--text", "--ids", "--text-pair"});
    options->decoder.add_to(command, "An encoder-decoder",
                            "the text that the decoder reads, as token ids, including its start token");
    command
        .add_option(
            "--what", options->what,
            "logits: the part of every residual stream component in a token's logit; lens: the "
            "prediction after each layer; score: the components of the query and the key of one "
            "score; vocabulary: the tokens that a head promotes and looks for, by its weights; why: the "
            "largest causes of the prediction, in words; ablation: the prediction without each head; "
            "composition: how much of a head's output a later head can read, by their weights")
        ->check(CLI::IsMember({"logits", "lens", "score", "vocabulary", "why", "ablation", "composition"}))
        ->required();
    const std::string of_logits = "Logits and lens", of_scores = "Score and vocabulary";
    options->token.add_to(
        command, "token",
        "the token of the logit, or the token that the head reads (default: the likeliest)");
    options->against.add_to(command, "against",
                            "the token whose logit is subtracted (default: the mean over the vocabulary)");
    command
        .add_option("--position", options->position,
                    "the token after which to predict (default: the last; for lens: all)")
        ->group(of_logits);
    command
        .add_flag("--answers", options->answers,
                  "logits of a set: take the token and the one that is subtracted from the fields answer and "
                  "against of each line")
        ->group(of_logits)
        ->excludes(command.get_option("--token"), command.get_option("--token-id"),
                   command.get_option("--against"), command.get_option("--against-id"));
    command.add_option("--top", options->top,
                       "lens and vocabulary: the number of tokens in a list (default: 5); composition: the "
                       "number of pairs, the largest first (default: all)");
    command
        .add_option("--ablation", options->ablation,
                    "zero: nothing takes the place of a head's output (default); mean: its mean output over "
                    "the positions of the text")
        ->check(CLI::IsMember({"zero", "mean"}))
        ->group(of_logits);
    command.add_option("--layer", options->layer, "the layer of the head")->group(of_scores);
    command
        .add_flag("--through-mlp", options->through_mlp,
                  "vocabulary: begin with the token after the first layer's MLP, as later layers read it")
        ->group(of_scores);
    command.add_option("--head", options->head, "the head")->group(of_scores);
    command.add_option("--query", options->query, "position of the query")->group(of_scores);
    command.add_option("--key", options->key, "position of the key")->group(of_scores);
    command.add_option("-o,--output", options->out, "the file to write (default: standard output)");
    command.add_flag("--json", options->json, "print JSON, the only format of all but why");
    command.footer(
        "LayerNorms are frozen at the scale that they have in this run, so that the parts add up exactly.");
    command.callback([options, &command] {
        refuse_options_of_others(command, options->what, options_of_whats());
        run_explain(command, *options);
    });
}

} // namespace headscope::cli
