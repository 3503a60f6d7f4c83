#include "app/session/prompt_list_service.h"

#include "app/state/model_document.h"
#include "core/base/message.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

using PromptDifferences = std::vector<std::optional<double>>;

/// Returns the key of a question among those of the same basis.
std::string key_of(const PromptsQuestion& asked) {
    std::string key =
        std::to_string(static_cast<int>(asked.screen)) + " " + std::to_string(static_cast<int>(asked.stack));
    if (asked.screen == MeanScreen::heads)
        return key + (asked.share ? " share" : "") + (asked.hide_first ? " hidden" : "");
    if (asked.screen == MeanScreen::patching)
        return asked.patching.paths ? key + " paths " + std::to_string(asked.from.layer) + "." +
                                          std::to_string(asked.from.head)
                                    : key + " " + std::string(analysis::info_of(asked.patching.kind).id);
    return key;
}

/// Returns the screen whose mean is requested; nothing for the others.
std::optional<MeanScreen> mean_screen(const AttentionView& view) {
    switch (view.screen) {
    case Screen::atlas:
        return view.atlas.tab == AtlasTab::survey ? std::nullopt : std::optional(MeanScreen::heads);
    case Screen::patching:
        return MeanScreen::patching;
    case Screen::effects:
        return view.effects == EffectKind::direct     ? std::optional(MeanScreen::direct)
               : view.effects == EffectKind::ablated  ? std::optional(MeanScreen::ablated)
               : view.effects == EffectKind::averaged ? std::optional(MeanScreen::averaged)
                                                      : std::nullopt;
    default:
        return std::nullopt;
    }
}

/// The score that colors the atlas, by which prompts are compared with the mean.
analysis::HeadScore colour_score(const Atlas* atlas, const AttentionView& view) {
    return atlas != nullptr ? resolve_atlas_view(*atlas, view.atlas, view.pattern).colour
                            : view.atlas.colour.value_or(analysis::HeadScore::entropy);
}

} // namespace

void PromptListService::open(PromptListPtr list) {
    const PromptOrder order = now_.order;
    const bool mean = now_.mean && list != nullptr;
    now_ = {};
    now_.list = std::move(list);
    model_ = state_.document->part()->model;
    now_.order = order;
    now_.mean = mean;
    shown_.reset();
    basis_ = nullptr;
    show_numbers(nullptr);
    asked_.clear();
    stopped_.clear();
    error_.clear();
    if (now_.list == nullptr)
        state_.model.prompts = nullptr;
    else
        sort_rows(now_);
}

void PromptListService::sort(PromptOrder order) {
    now_.order = order;
    if (now_.list != nullptr)
        sort_rows(now_);
}

void PromptListService::follow_basis() {
    const RunSpec& part = *state_.document->part();
    const checkpoint::ModelEdits edits = with_patches_of(part.edits, {});
    if (basis_ != nullptr && basis_->list == now_.list && basis_->model == part.model &&
        !first_difference(basis_->edits, edits))
        return;
    basis_ = std::make_shared<const Basis>(Basis{now_.list, part.model, edits});
    show_numbers(nullptr);
    asked_.clear();
    stopped_.clear();
}

void PromptListService::follow_differences() {
    now_.differences.resize(now_.list->prompts.size());
    const bool visible = state_.view.tab == LeftTab::prompts || now_.order == PromptOrder::difference;
    const DerivedKey key{basis_, "differences"};
    const auto known =
        visible && basis_->model->model->has_head()
            ? values_.ask<PromptDifferences>(
                  key, Priority::background,
                  [basis = basis_](Progress& progress, const DerivedValues::Put<PromptDifferences>& put,
                                   const std::shared_ptr<const PromptDifferences>& so_far) {
                      return differences_of_prompts(*basis->model, *basis->list, basis->edits, so_far.get(),
                                                    put, progress);
                  })
            : values_.peek<PromptDifferences>(key);
    now_.differences = known.value != nullptr ? *known.value : PromptDifferences(now_.list->prompts.size());
}

void PromptListService::leave(const std::string& key) {
    if (asked_ == key)
        return;
    if (!asked_.empty())
        values_.stop<NumbersOfPrompts>({basis_, asked_}, true);
    asked_ = key;
    show_numbers(nullptr);
    if (!key.empty() && !stopped_.contains(key))
        values_.stop<NumbersOfPrompts>({basis_, key}, false);
}

void PromptListService::follow_numbers() {
    const AttentionView& view = state_.view.attention;
    const std::optional<MeanScreen> screen = mean_screen(view);
    now_.done = now_.count = 0;
    now_.stopped = false;
    now_.no_mean_reason.clear();
    now_.distances.assign(now_.list->prompts.size(), std::nullopt);
    now_.faults.assign(now_.list->prompts.size(), "");
    error_.clear();
    analysis::ReadingOptions reading = view.reading;
    PromptsQuestion asked{.stack = view.stack,
                          .patching = state_.model.patching,
                          .from = {view.layer, state_.view.head},
                          .share = false,
                          .hide_first = std::exchange(reading.hide_first_token, false)};
    if (!screen)
        now_.no_mean_reason =
            tr("prompt_list_service.no_mean", "This view has no mean over prompts; it shows the open one. "
                                              "Atlas, Effects and Patching have means.");
    else if (*screen == MeanScreen::heads && reading != analysis::ReadingOptions())
        now_.no_mean_reason =
            tr("prompt_list_service.read_otherwise",
               "There is no mean of filtered or merged weights; switch the filters off in Heads.");
    else if (*screen != MeanScreen::heads && !state_.document->part()->model->model->has_head())
        now_.no_mean_reason =
            tr("prompt_list_service.no_head",
               "The model has no logits to compare; open a model with a language-model head, or use Atlas.");
    else if (state_.document->part()->pair != now_.list->second ||
             state_.document->part()->target != now_.list->target)
        now_.no_mean_reason =
            tr("prompt_list_service.other_texts",
               "The second text is not the one that the list was opened with; open the list again.");
    else if (patched_run(*state_.document->part()) != nullptr)
        now_.no_mean_reason =
            tr("prompt_list_service.patched", "This is a patched run of one prompt; leave it for the mean.");
    if (!now_.no_mean_reason.empty())
        return leave("");
    asked.screen = *screen;
    // As the screens themselves: the effects of an encoder are those of the decoder that reads it.
    if (asked.screen != MeanScreen::heads && asked.stack != checkpoint::Stack::cross)
        asked.stack = checkpoint::Stack::own;
    asked.share =
        asked.screen == MeanScreen::heads &&
        (view.atlas.colour == analysis::HeadScore::share || view.atlas.x == analysis::HeadScore::share ||
         view.atlas.y == analysis::HeadScore::share || view.atlas.sort == analysis::HeadScore::share);
    now_.no_mean_reason = app::no_mean_reason(*now_.list, asked);
    if (!now_.mean || !now_.no_mean_reason.empty())
        return leave("");
    const std::string key = key_of(asked);
    leave(key);
    const auto found = values_.ask<NumbersOfPrompts>(
        {basis_, key}, Priority::on_screen,
        [basis = basis_, asked](Progress& progress, const DerivedValues::Put<NumbersOfPrompts>& put,
                                const std::shared_ptr<const NumbersOfPrompts>& so_far) {
            return numbers_of_prompts(*basis->model, *basis->list, basis->edits, asked, so_far.get(), put,
                                      progress);
        });
    error_ = found.error;
    now_.stopped = found.stopped;
    now_.count = now_.list->usable();
    if (found.done)
        now_.done = now_.count;
    if (found.value == nullptr)
        return;
    if (!found.done)
        now_.done = std::ssize(found.value->prompts);
    for (const auto& prompt : found.value->prompts)
        now_.faults[prompt->index] = prompt->fault;
    show_numbers(found.value->mean.prompts > 0 ? found.value : nullptr);
    if (found.done && numbers_ == nullptr && error_.empty())
        error_ = tr("prompt_list_service.all_failed", "No prompt of the list could be measured. Line {}: {}",
                    now_.list->prompts[found.value->prompts.front()->index].line,
                    found.value->prompts.front()->fault);
}

void PromptListService::follow() {
    values_.begin_frame();
    if (now_.list != nullptr && state_.document->part()->model != model_)
        open(nullptr); // its tokens are those of another model
    if (now_.list == nullptr) {
        state_.model.prompts = nullptr;
        values_.clear();
        return;
    }
    follow_basis();
    values_.retain({basis_});
    follow_numbers();
    follow_differences();
    const RunSpec& part = *state_.document->part();
    now_.open.reset();
    if (shown_)
        if (const std::string& text = now_.list->prompts[*shown_].text; // its run may still be computed
            state_.model.prompt == text || (part.written == 0 && part.prompt == text))
            now_.open = shown_;
}

void PromptListService::publish() {
    if (now_.list == nullptr)
        return;
    if (numbers_ != nullptr && mean_on())
        now_.distances = distances_from_mean(*numbers_, now_.list->prompts.size(),
                                             colour_score(state_.shown.atlas.get(), state_.view.attention));
    sort_rows(now_);
    state_.model.prompts = std::make_shared<const PromptListState>(now_);
}

void PromptListService::show_numbers(std::shared_ptr<const NumbersOfPrompts> numbers) {
    if (numbers == numbers_)
        return;
    numbers_ = std::move(numbers);
    effects_ = nullptr;
    sweep_ = nullptr;
    patching_ = nullptr;
    if (numbers_ == nullptr)
        return;
    if (numbers_->effects != nullptr)
        effects_ = app::mean_effects(*numbers_);
    if (numbers_->sweep != nullptr)
        sweep_ = app::mean_sweep(*numbers_);
    if (numbers_->map != nullptr)
        patching_ = app::mean_patching(*numbers_);
}

void PromptListService::measure(bool on) {
    if (asked_.empty())
        return;
    if (on)
        stopped_.erase(asked_);
    else
        stopped_.insert(asked_);
    values_.stop<NumbersOfPrompts>({basis_, asked_}, !on);
}

} // namespace headscope::app
