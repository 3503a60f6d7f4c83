#include "app/cli/model_options.h"
#include "app/cli/problem_options.h"
#include "app/cli/prompt_option.h"
#include "app/cli/prompts/prompt_results.h"
#include "app/cli/prompts/prompt_run.h"
#include "app/cli/prompts/prompts_option.h"
#include "app/cli/subcommands.h"
#include "app/cli/usage.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/generation/generator.h"
#include "core/checkpoint/model/text_model.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace headscope::cli {

namespace {

using checkpoint::Candidate;
using checkpoint::Distribution;
using Json = nlohmann::ordered_json;

struct GenerateOptions {
    EditedModelOption model;
    PromptOption prompt;
    PromptsOption prompts;
    std::optional<std::string> out;
    DecoderText decoder;
    std::int64_t tokens = 0, top = 0;
    checkpoint::SamplingSettings sampling;
    bool json = false;
};

Progress& interrupted() {
    static Progress progress;
    return progress;
}

/// The first Ctrl C ends the text, the second ends the program.
void stop_at_interrupt() {
    interrupted();
    std::signal(SIGINT, [](int) {
        interrupted().cancel();
        std::signal(SIGINT, SIG_DFL);
    });
}

/// Prints a text as it grows. An incomplete character at the end waits for its remaining bytes.
class GrowingText {
public:
    void show(std::string text, bool whole) {
        constexpr std::string_view broken = "\xEF\xBF\xBD";
        while (!whole && text.ends_with(broken))
            text.resize(text.size() - broken.size());
        if (!text.starts_with(shown_)) {
            if (!whole)
                return;
            std::cout << '\n';
            shown_.clear();
        }
        std::cout << std::string_view(text).substr(shown_.size()) << (whole ? "\n" : "") << std::flush;
        shown_ = std::move(text);
    }

private:
    std::string shown_;
};

Json as_json(const checkpoint::TextModel& model, const Distribution& next, std::size_t n) {
    const Candidate& one = next.candidates[n];
    return {{"id", one.id},
            {"token", spelling_of(model, one.id)},
            {"logit", one.logit},
            {"model_probability", one.probability},
            {"probability", next.share(n)}};
}

/// The tokens generated so far, as the lists of the JSON output.
struct Steps {
    Json ids = Json::array(), tokens = Json::array(), probabilities = Json::array(),
         model_probabilities = Json::array(), draws = Json::array(), alternatives = Json::array();

    void add(const checkpoint::TextModel& model, const Distribution& next, std::int64_t top) {
        const Candidate& taken = next.candidates[next.taken];
        ids.push_back(taken.id);
        tokens.push_back(spelling_of(model, taken.id));
        probabilities.push_back(next.share(next.taken));
        model_probabilities.push_back(taken.probability);
        draws.push_back(next.draw ? Json(*next.draw) : Json());
        Json& step = alternatives.emplace_back(Json::array());
        for (std::size_t n = 0; n < next.candidates.size() && std::cmp_less(n, top); ++n)
            step.push_back(as_json(model, next, n));
    }
};

/// Continues the text; returns why it ended. An interrupted step keeps the previous ones.
std::string generate(checkpoint::Generator& generator, const checkpoint::TextModel& model,
                     const GenerateOptions& options, Steps& steps, const std::function<void()>& grown) {
    try {
        for (std::int64_t n = 0; n < options.tokens; ++n) {
            if (generator.full())
                return "positions";
            const Distribution next =
                generator.next(options.sampling, static_cast<std::size_t>(options.top), interrupted());
            const std::int64_t id = next.candidates[next.taken].id;
            steps.add(model, next, options.top);
            generator.append(id);
            grown();
            if (std::ranges::find(model.end_ids, id) != model.end_ids.end())
                return "end of text";
        }
    } catch (const Error& fault) {
        if (fault.kind() != ErrorKind::cancelled)
            throw;
        return "interrupted";
    }
    return "tokens";
}

/// The text that one prompt is continued to.
struct Continued {
    checkpoint::ModelInputs prompt;
    checkpoint::Generator generator;
    Steps steps = {};
    std::string stopped = {};

    Continued(const checkpoint::TextModel& model, const GenerateOptions& options)
        : prompt(options.prompt.read(model, options.decoder)),
          generator(model.model, prompt, options.model.edits(model)) {}
};

Json as_json(const checkpoint::TextModel& model, const GenerateOptions& options, const Continued& text) {
    Json prompt_tokens = Json::array();
    const checkpoint::ModelInputs& prompt = text.prompt;
    const checkpoint::ModelInputs& read = prompt.source.empty() ? prompt : prompt.source.front();
    for (const std::int64_t id : read.ids)
        prompt_tokens.push_back(spelling_of(model, id));
    const Steps& steps = text.steps;
    Json all{{"text", checkpoint::text_of(model, text.generator.ids(), ",")},
             {"prompt_ids", read.ids},
             {"prompt_tokens", prompt_tokens},
             {"ids", steps.ids},
             {"tokens", steps.tokens},
             {"probabilities", steps.probabilities},
             {"model_probabilities", steps.model_probabilities},
             {"draws", steps.draws},
             {"stopped", text.stopped},
             {"cache_bytes", text.generator.cache_bytes()}};
    if (!prompt.source.empty())
        all["decoder_ids"] = prompt.ids;
    if (options.top > 0)
        all["alternatives"] = steps.alternatives;
    return all;
}

void check_generate(const GenerateOptions& options) {
    if (!options.prompts.given())
        options.prompt.require();
    if (options.tokens < 1)
        fail_input("--tokens is " + std::to_string(options.tokens) + "; it should be at least 1");
    if (options.top < 0)
        fail_input("--top is " + std::to_string(options.top) + "; it should be at least 0");
    checkpoint::check_settings(options.sampling);
}

void generate_set(const CLI::App& command, const GenerateOptions& options) {
    const std::string out = options.out.value_or("-");
    check_set_output(out, options.json);
    const analysis::PromptSet set = analysis::PromptSet::open(options.prompts.path());
    const checkpoint::TextModelPtr model = options.model.open();
    PromptRun run{.set = set,
                  .out = out,
                  .computation = computation_text(command, *model->model),
                  .compute =
                      [&](const analysis::Prompt& prompt) {
                          GenerateOptions one = options;
                          one.prompt.set(prompt.text());
                          Continued text(*model, one);
                          text.stopped = generate(text.generator, *model, one, text.steps, [] {});
                          return dump_json(as_json(*model, one, text));
                      },
                  .parallel = is_small(*model->model)};
    if (!options.json)
        run.as_text = [](const PromptResults& results) {
            std::string texts;
            for (const Json& one : results.results)
                texts += one.at("text").get<std::string>() + "\n";
            return texts;
        };
    run_prompts(run);
}

void run_generate(const CLI::App& command, const GenerateOptions& options) {
    check_generate(options);
    if (options.prompts.given())
        return generate_set(command, options);
    const checkpoint::TextModelPtr model = options.model.open();
    Continued text(*model, options);
    stop_at_interrupt();
    GrowingText shown;
    const auto show = [&](bool whole) {
        if (!options.json)
            shown.show(checkpoint::text_of(*model, text.generator.ids(), ","), whole);
    };
    show(false);
    text.stopped = generate(text.generator, *model, options, text.steps, [&] { show(false); });
    show(true);
    if (options.json)
        write_file_atomically("-", dump_json(as_json(*model, options, text), 1) + "\n");
    if (text.stopped == "interrupted")
        fail_input("stopped after " + std::to_string(text.steps.ids.size()) + " of " +
                   std::to_string(options.tokens) + " tokens, which are printed");
    if (text.stopped == "positions" && !options.json)
        std::cerr << "headscope: stopped after " << text.steps.ids.size() << " of " << options.tokens
                  << " tokens: the model has positions for " << text.generator.length() << '\n';
}

} // namespace

void add_generate(CLI::App& program) {
    CLI::App& command = *program.add_subcommand("generate", "continue a text, token by token");
    const auto options = std::make_shared<GenerateOptions>();
    options->model.add_to(
        command, "a checkpoint folder or GGUF file of a model that predicts the next token, or pocket",
        "scale a head: 3.2=0 ablates head 2 of layer 3; in an encoder-decoder encoder:3.2=0, decoder:3.2=0 "
        "or cross:3.2=0");
    options->prompt.add_to(command, "text", "the prompt");
    options->prompts.add_to(command, "text (or clean)", {"--text", "--ids", "--text-pair"});
    command
        .add_option("-o,--output", options->out,
                    "of --prompts: the .json, .csv or .safetensors file to write (default: standard output)")
        ->needs(command.get_option("--prompts"));
    options->decoder.add_to(command, "An encoder-decoder",
                            "the beginning of the text as token ids, including its start token");
    command.add_option("--tokens", options->tokens, "the maximum number of tokens to add")->required();
    const std::string group = "Sampling";
    command
        .add_option("--temperature", options->sampling.temperature,
                    "divides the logits; 0 takes the likeliest token (default: 0)")
        ->group(group);
    command
        .add_option("--top-k", options->sampling.top_k, "draw among the K likeliest tokens (default: all)")
        ->group(group);
    command
        .add_option("--top-p", options->sampling.top_p,
                    "draw among the likeliest tokens that together reach P of the probability (default: all)")
        ->group(group);
    command.add_option("--seed", options->sampling.seed, "the seed of the draws (default: 0)")->group(group);
    command.add_option("--top", options->top, "list the N likeliest tokens of each step in the JSON");
    command.add_flag("--json", options->json, "print JSON: ids, tokens, probabilities and more");
    command.footer("The order is: temperature, top-k, top-p, draw. The text ends early at the model's "
                   "end-of-text token\n"
                   "and when the model has no more positions. Ctrl C stops it and prints what there is.");
    command.callback([options, &command] { run_generate(command, *options); });
}

} // namespace headscope::cli
