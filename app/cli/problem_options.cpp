#include "app/cli/problem_options.h"

#include "app/cli/usage.h"
#include "app/state/files/opened_path.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/parse.h"
#include "core/engine/engine.h"
#include "core/project/case_file.h"
#include "core/project/mask_json.h"
#include "core/project/project_file.h"
#include "core/text/plain_text.h"
#include "core/text/preset.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>

namespace headscope::cli {

namespace {

constexpr const char* default_preset = "first-lesson";

/// Accepts auto, cpu, vulkan or vulkan:N. make_engine checks whether this machine has the device.
std::string check_device(const std::string& id) {
    constexpr std::string_view numbered = "vulkan:";
    const bool known = id == "auto" || id == "cpu" || id == "vulkan" ||
                       (id.starts_with(numbered) && number_of<unsigned>(id.substr(numbered.size())));
    return known ? "" : "unknown device " + id + ", use auto, cpu, vulkan or vulkan:N";
}

/// Rejects the name of a file as a sentence: its numbers would be mistaken for those of the file.
void refuse_path(const std::string& sentence) {
    std::error_code none;
    if (sentence.size() > 4096 || !std::filesystem::exists(sentence, none))
        return;
    const auto refuse = [&](const std::string& what, const std::string& instead) {
        fail_input(sentence + " is " + what + ", and a sentence is expected; " + instead +
                   ", or send the sentence of that name through standard input, as -");
    };
    switch (app::kind_of_path(sentence)) {
    case app::PathKind::checkpoint:
        return refuse("a checkpoint", "write --model " + sentence);
    case app::PathKind::project:
        return refuse("a project", "write --project " + sentence);
    case app::PathKind::problem:
        return refuse("a problem", "write --case " + sentence + " --heads H");
    case app::PathKind::tensors:
        return refuse("a file of tensors", "heads and render take --attention " + sentence);
    default:
        return;
    }
}

/// Reads the sentence, of limited length. The line end of a file or pipe is not part of the sentence.
std::string read_sentence(const std::string& sentence) {
    if (sentence != "-")
        return sentence;
    std::string text = read_file("-", mebibyte);
    while (text.ends_with('\n') || text.ends_with('\r'))
        text.pop_back();
    return text;
}

} // namespace

void ProblemOptions::add_to(CLI::App& command, bool needed) {
    needed_ = needed;
    const std::string sentence = "A sentence", tensors = "A tensor file", changes = "Changes";
    command.add_option("SENTENCE", sentence_, "a sentence to attend over; - reads it from standard input");
    command
        .add_option("--kv-sentence", kv_sentence_,
                    "cross-attention: keys and values come from this second sentence")
        ->group(sentence);
    command.add_option("--preset", preset_, "embeddings and weights for the sentence: " + preset_names())
        ->group(sentence);
    command
        .add_option("--seed", seed_, "seed for random weights and the vectors of unknown words (default 1)")
        ->group(sentence);
    command
        .add_option("--case", case_path_,
                    "a .safetensors file with X, optional X_kv, W_Q W_K W_V W_O, optional b_Q b_K b_V b_O, "
                    "mask.allowed and mask.add")
        ->group(tensors);
    command.add_option("--weights", weights_path_, "a second file for the W and b that the first lacks")
        ->group(tensors);
    command
        .add_option("--project", project_path_,
                    "a .headscope file; --gain and --temperature are applied on top. A checkpoint's project "
                    "gives the model, text and edits that are not given here")
        ->group("A project");
    command
        .add_option("--heads", H_,
                    "number of query heads H; with a sentence it regroups the preset's weights")
        ->group(changes);
    command.add_option("--kv-heads", Hkv_, "number of key/value heads Hkv, a divisor of H (default: H)")
        ->group(changes);
    command
        .add_option("--mask", mask_,
                    "causal, none or a list such as [{\"kind\":\"sliding_window_causal\",\"window\":4}]; "
                    "combined with "
                    "the masks of the file")
        ->group(changes);
    command
        .add_option("--gain", gains_,
                    "h=g multiplies the output of head h by g; 0 ablates it. In a checkpoint l.h=g is head h "
                    "of layer l, and h=g a head of the layer that --layer names")
        ->allow_extra_args(false)
        ->group(changes);
    command
        .add_option("--temperature", temperature_,
                    "divides the scaled scores, in a checkpoint of every layer (default 1)")
        ->group(changes);
    add_device_option(command, device_);
}

void exclude_problem(CLI::App& command, CLI::Option& other) {
    for (const char* name : {"SENTENCE", "--kv-sentence", "--preset", "--seed", "--case", "--project",
                             "--weights", "--kv-heads", "--mask"})
        other.excludes(command.get_option(name));
    // Some models need the number of heads.
    if (!other.check_name("--model"))
        other.excludes(command.get_option("--heads"));
}

void add_device_option(CLI::App& command, std::string& device) {
    // Not a validator of CLI11: since version 2.4 it drops values of the environment that a validator
    // rejects.
    const auto take = [&device](const std::string& id) {
        if (const std::string fault = check_device(id); !fault.empty())
            throw CLI::ValidationError("--device", fault);
        device = id;
    };
    command.add_option_function<std::string>("--device", take, "auto, cpu, vulkan or vulkan:N")
        ->envname("HEADSCOPE_DEVICE")
        ->default_str(device);
}

void run_on_processor(const std::string& device) {
    if (device == "auto" || device == "cpu")
        return;
    static_cast<void>(engine::make_engine(device));
    std::cerr << "headscope: this command runs only on the processor; " << device << " is not used\n";
}

std::string preset_names() {
    return joined(text::presets(), &text::PresetInfo::id);
}

void ProblemOptions::check_usage() const {
    for (const std::string& text : gains_)
        if (const GainChange gain = parse_gain(text); gain.layer || !gain.stack.empty())
            fail_input("--gain " + text + " names a layer, and only a checkpoint has layers; write h=g");
    if (project_path_) {
        if (sentence_ || kv_sentence_ || preset_ || seed_ || case_path_ || weights_path_)
            fail_usage("--project and another problem were given; give one of them");
        if (H_ || Hkv_ || mask_)
            fail_usage("the project sets --heads, --kv-heads and --mask already; leave them out");
    } else if (case_path_) {
        if (sentence_)
            fail_usage("a sentence and --case were given; give one of them");
        if (preset_ || seed_ || kv_sentence_)
            fail_usage("--preset, --seed and --kv-sentence go with a sentence, not with --case; leave them "
                       "out (a case file brings X_kv)");
        if (!H_)
            fail_usage("--case needs the number of heads; add --heads H");
    } else {
        if (weights_path_)
            fail_usage("--weights goes with --case; add --case FILE");
        if (sentence_)
            refuse_path(*sentence_);
        if (needed_ && !sentence_ && !preset_ && !kv_sentence_)
            fail_usage(
                "nothing to run; give a sentence, --preset NAME, --case FILE --heads H or --project FILE");
    }
}

project::Recipe ProblemOptions::from_sentence() const {
    project::Recipe recipe;
    recipe.preset = preset_.value_or(default_preset);
    const text::PresetInfo* preset = text::find_preset(recipe.preset);
    if (sentence_)
        recipe.sentence = read_sentence(*sentence_);
    else if (preset != nullptr)
        recipe.sentence = preset->sentence;
    if (kv_sentence_)
        recipe.kv_sentence = *kv_sentence_;
    else if (preset != nullptr)
        recipe.kv_sentence = text::opening_kv_sentence(*preset);
    recipe.seed = seed_.value_or(1);
    recipe.H = H_.value_or(0);
    recipe.Hkv = Hkv_.value_or(0);
    if ((H_ && *H_ < 1) || (Hkv_ && *Hkv_ < 1))
        fail_input("--heads and --kv-heads are numbers of heads; give at least 1");
    if (mask_) {
        recipe.extra_mask = project::parse_mask(*mask_);
        for (std::size_t i = 0; i < recipe.extra_mask.size(); ++i)
            if (const auto* rule = std::get_if<AdditiveMask>(&recipe.extra_mask[i]);
                rule != nullptr && rule->add == nullptr)
                fail_input("mask rule " + std::to_string(i) + " (\"additive\") has no \"add\"; add it");
    }
    return recipe;
}

project::Recipe ProblemOptions::from_case() const {
    project::Recipe recipe;
    recipe.base = std::make_shared<const Problem>(
        project::load_case({.path = *case_path_,
                            .H = *H_,
                            .Hkv = Hkv_,
                            .weights_path = weights_path_,
                            .mask = mask_ ? project::parse_mask(*mask_) : Mask{}}));
    return recipe;
}

project::Recipe ProblemOptions::from_project() const {
    project::OpenedProject opened = project::open_project(*project_path_);
    for (const std::string& note : opened.notes)
        std::cerr << "headscope: " << text::plain_text(note) << '\n';
    return std::move(opened.recipe);
}

GainChange parse_gain(const std::string& text) {
    const auto equals = std::min(text.find('='), text.size());
    const auto colon = text.find(':');
    const std::string stack = colon < equals ? text.substr(0, colon) : "";
    const std::size_t begin = colon < equals ? colon + 1 : 0;
    const std::string_view place = std::string_view(text).substr(begin, equals - begin);
    const auto dot = place.find('.');
    const auto layer = number_of<std::int64_t>(place.substr(0, std::min(dot, place.size())));
    const auto head = dot == std::string_view::npos ? layer : number_of<std::int64_t>(place.substr(dot + 1));
    const auto factor =
        equals == text.size() ? std::nullopt : number_of<float>(std::string_view(text).substr(equals + 1));
    const bool known = colon >= equals || stack == "encoder" || stack == "decoder" || stack == "cross";
    if (!layer || !head || !factor || !known)
        fail_input(
            "--gain " + text +
            " is not of the form h=g; write for example --gain 2=0.5, or in a checkpoint --gain 3.2=0.5 "
            "for head 2 of layer 3, and in an encoder-decoder encoder:3.2=0.5, decoder:3.2=0.5 or "
            "cross:3.2=0.5");
    return {stack, dot == std::string_view::npos ? std::nullopt : layer, *head, *factor};
}

std::vector<float> ProblemOptions::changed_gains(const Problem& problem) const {
    std::vector<float> changed = problem.gains;
    if (changed.empty())
        changed.assign(static_cast<std::size_t>(problem.dims.H), 1.0F);
    for (const std::string& text : gains_) {
        const GainChange gain = parse_gain(text);
        if (gain.head < 0 || gain.head >= problem.dims.H)
            fail_input("--gain " + text + ": there is no head " + std::to_string(gain.head) +
                       "; heads are numbered 0 to " + std::to_string(problem.dims.H - 1));
        changed[static_cast<std::size_t>(gain.head)] = gain.factor;
    }
    return changed;
}

app::DocumentPtr ProblemOptions::read() const {
    check_usage();
    project::Recipe recipe = project_path_ ? from_project() : case_path_ ? from_case() : from_sentence();
    recipe.temperature = temperature_.value_or(recipe.temperature);
    app::DocumentPtr document = app::make_document(recipe, 1);
    if (gains_.empty())
        return document;
    recipe.gains = changed_gains(document->problem);
    return app::make_document(recipe, 1);
}

} // namespace headscope::cli
