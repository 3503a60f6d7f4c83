#include "app/session/checkpoint_session.h"

#include "app/commands/command.h"
#include "core/analysis/prompts/prompt_set.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"

#include <filesystem>
#include <system_error>
#include <utility>

// The list of prompts next to the prompt, and the means over it.

namespace headscope::app {

namespace {

/// Throws Error(input) for a file that would block the window while it is read.
void require_small_file(const std::string& path) {
    constexpr std::uintmax_t megabyte = std::uintmax_t{1} << 20, most = 64;
    std::error_code fault; // the reader reports a missing file
    const std::uintmax_t size = std::filesystem::file_size(path, fault);
    if (!fault && size > most * megabyte)
        fail_input(tr("checkpoint_prompts.large_file",
                      "{} is larger than {} MB; split the file, or use --prompts on the command line",
                      std::filesystem::path(path).filename().string(), most));
}

} // namespace

void CheckpointSession::change_prompts(const ModelAction& action) {
    ModelState& model = state().model;
    const RunSpec& part = *state().document->part();
    std::visit(Overloaded{[&](const OpenPrompts& c) {
                              require_small_file(c.path);
                              open_prompts(listed_prompts(*part.model, analysis::PromptSet::open(c.path),
                                                          part.pair, part.target));
                          },
                          [&](const GeneratePrompts& c) {
                              open_prompts(generated_prompts(*part.model, c.task, model.example_prompts,
                                                             part.pair, part.target));
                          },
                          [&](const SetPromptCount& c) {
                              if (c.count < 1 || c.count > most_example_prompts)
                                  fail_input(tr("checkpoint_prompts.count",
                                                "The number of prompts is {}; type one from 1 to {}.",
                                                c.count, most_example_prompts));
                              model.example_prompts = c.count;
                          },
                          [&](const ShowListedPrompt& c) { show_listed_prompt(c.index); },
                          [&](const StepListedPrompt& c) {
                              if (prompts_.list() == nullptr)
                                  fail_input(tr("checkpoint_prompts.no_list",
                                                "There is no list of prompts; open one first."));
                              if (const auto next = stepped_prompt(prompts_.now(), c.by))
                                  show_listed_prompt(*next);
                          },
                          [&](const SortPrompts& c) { prompts_.sort(c.order); },
                          [&](const ShowPromptMean& c) { prompts_.show_mean(c.on); },
                          [&](const ClosePrompts&) { prompts_.open(nullptr); }, [](const auto&) {}},
               action);
}

void CheckpointSession::open_prompts(PromptListPtr list) {
    prompts_.open(std::move(list));
    ViewState& view = state().view;
    view.tab = LeftTab::prompts;
    view.left_open = true;
    view.inspector_opened_last = false;
    if (const auto first = stepped_prompt(prompts_.now(), 1))
        show_listed_prompt(*first);
}

void CheckpointSession::show_listed_prompt(std::size_t index) {
    const PromptListPtr& list = prompts_.list();
    if (list == nullptr || index >= list->prompts.size())
        return;
    const ListedPrompt& prompt = list->prompts[index];
    if (!prompt.usable())
        fail_input(tr("checkpoint_prompts.fault", "Line {} cannot be used: {}", prompt.line, prompt.fault));
    // A line without tokens leaves them to the model, as for a typed prompt. A line with one token asks for
    // its logit minus the mean, as `headscope explain` does.
    state().model.effects = {.token = prompt.answer_id,
                             .against = prompt.against_id,
                             .from_mean = prompt.answer_id && !prompt.against_id};
    state().model.patching.corrupted = prompt.corrupted;
    prompts_.show(index);
    if (prompt.typed)
        return type(&RunSpec::prompt, prompt.text);
    stop_writing();
    auto part = std::make_shared<RunSpec>(*state().document->part());
    part->prompt = prompt.text;
    part->inputs = prompt.inputs;
    part->written = 0;
    part->edits = with_patches_of(part->edits, {});
    part->opened_patch = nullptr;
    write(part, tr("checkpoint_prompts.open", "open a prompt of the list"));
}

void CheckpointSession::measure_prompts() {
    if (!prompts_.mean_on())
        return;
    if (!prompts_.error().empty())
        state().model.error = prompts_.error();
    if (!prompts_.can_measure())
        return;
    state().model.measuring = !prompts_.now().stopped;
    measured_ = [this](bool on) { prompts_.measure(on); };
}

void CheckpointSession::follow_mean_effects() {
    Shown& shown = state().shown;
    shown.sources = nullptr;
    shown.lens = nullptr;
    shown.sweep = nullptr;
    shown.sweep_stopped = prompts_.now().stopped;
    shown.effects = prompts_.mean_effects();
    const EffectKind kind = state().view.attention.effects;
    if (kind == EffectKind::ablated || kind == EffectKind::averaged)
        shown.sweep = prompts_.mean_sweep();
}

void CheckpointSession::follow_mean_patching() {
    opening_.reset();
    Shown& shown = state().shown;
    shown.patching = prompts_.mean_patching();
    if (shown.patching != nullptr)
        return;
    shown.patching = std::make_shared<const PatchingView>(PatchingView{.asked = state().model.patching,
                                                                       .error = prompts_.error(),
                                                                       .mean = true,
                                                                       .stopped = prompts_.now().stopped});
}

} // namespace headscope::app
