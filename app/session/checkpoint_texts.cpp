#include "app/session/checkpoint_session.h"

#include "app/commands/command.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/generation/predictions.h"

#include <algorithm>
#include <utility>

// The texts of a checkpoint: typed, or generated token by token.

namespace headscope::app {

void CheckpointSession::type(std::string RunSpec::*which, const std::string& text, bool again) {
    stop_writing();
    const RunSpec& now = *state().document->part();
    auto part = std::make_shared<RunSpec>(now);
    ModelState& model = state().model;
    // Include the content of the other fields, even if it is not valid yet.
    part->prompt = model.prompt;
    part->pair = model.pair;
    part->target = now.two_texts() ? model.target : "";
    (*part).*which = text;
    show_texts(model, *part);
    if (!again && shows_texts(model, now) && now.opened_patch == nullptr) {
        next_text_.reset(); // the document has this text already
        model.error.clear();
        return;
    }
    part->inputs = nullptr;
    part->written = 0;
    part->edits = with_patches_of(part->edits, {});
    part->opened_patch = nullptr;
    model.position.reset(); // default: the last token of the new text
    next_text_ = {std::move(part),
                  which == &RunSpec::target ? tr("checkpoint_texts.type_target", "type a target")
                  : which == &RunSpec::pair ? tr("checkpoint_texts.type_second_text", "type a second text")
                                            : tr("checkpoint_texts.type_prompt", "type a prompt"),
                  prompt_change, host().gesture()};
}

void CheckpointSession::decide_pair(bool two) {
    const auto pair = pair_question_.decide(state().model, two);
    if (!pair)
        return;
    state().model.pair = pair->second;
    type(&RunSpec::prompt, pair->first);
    if (next_text_)
        next_text_->label = tr("checkpoint_texts.make_two_texts", "make two texts");
}

void CheckpointSession::write_target() {
    if (!state().document->part()->two_texts())
        return;
    const std::string in_field = state().model.target;
    type(&RunSpec::target, "", true);
    state().model.target = in_field; // until the generated text is available
    auto part = std::make_shared<RunSpec>(*next_text_->part);
    part->write_target = true;
    next_text_->part = std::move(part);
    next_text_->label = tr("checkpoint_texts.write_target", "write the target");
    next_text_->change = {};
}

void CheckpointSession::write(const RunSpecPtr& part, std::string label) {
    show_texts(state().model, *part);
    state().model.position.reset();
    next_text_ = {part, std::move(label), {}, host().gesture()};
}

void CheckpointSession::write_waiting() {
    const ModelState& model = state().model;
    const RunSpecPtr& part = state().document->part();
    if (waiting_ && !model.next_distribution && !model.generation_blocked_reason.empty()) {
        waiting_.reset();
        fail_input(model.generation_blocked_reason);
    }
    if (!waiting_ || next_text_ || !model.next_distribution || model.run->inputs() != *part->inputs ||
        first_difference(model.run->edits(), part->edits))
        return;
    const checkpoint::Distribution& next = *model.next_distribution;
    const std::int64_t id = waiting_->id.value_or(next.candidates[next.taken].id);
    waiting_.reset();
    write(with_token(*part, id),
          tr("checkpoint_texts.write", "write “{}”", checkpoint::label_of(*part->model, id)));
}

void CheckpointSession::continue_generation() {
    try {
        write_waiting();
    } catch (const Error& fault) {
        state().error = fault.what();
    }
    follow();
}

void CheckpointSession::stop_writing(std::string why) {
    waiting_.reset();
    next_token_at_ = 0;
    state().model.generating = false;
    state().model.stop_reason = std::move(why);
}

void CheckpointSession::take_back(std::int64_t tokens) {
    stop_writing();
    const RunSpec& part = *state().document->part();
    if (!next_text_) {
        write(without_tokens(part, tokens),
              tr_n("checkpoint_texts.take_token_back", "take a token back", "take tokens back", tokens));
    } else if (next_text_->part->written > part.written) { // the newest token is still pending
        next_text_.reset();
        show_texts(state().model, part);
    }
}

void CheckpointSession::take_branch(std::size_t number) {
    stop_writing();
    const std::vector<RunSpecPtr>& branches = state().model.branches;
    if (number < branches.size())
        write(branches[number], tr("checkpoint_texts.go_another_branch", "go to another branch"));
}

void CheckpointSession::sample_next() {
    constexpr std::size_t listed = 64;
    ModelState& model = state().model;
    model.next_distribution.reset();
    if (next_logits_ == nullptr)
        return;
    if (next_logits_->all_finite()) {
        model.next_distribution =
            checkpoint::sample(next_logits_->values(), model.sampling, model.run->inputs().T, listed);
        return;
    }
    stop_writing();
    model.generation_blocked_reason = checkpoint::not_finite_logits(model.run->inputs().T - 1);
}

bool CheckpointSession::advance_animations(double now) {
    constexpr double seconds_between = 1.0 / 8;
    if (state().model.generating && !waiting_ && now >= next_token_at_) {
        next_token_at_ = now + seconds_between;
        waiting_ = GenerateToken{};
        continue_generation();
    }
    return state().model.generating;
}

void CheckpointSession::token_generated(std::int64_t id) {
    const checkpoint::TextModel& model = *state().document->part()->model;
    if (!state().model.generating)
        return;
    if (std::ranges::find(model.end_ids, id) != model.end_ids.end())
        stop_writing(tr("checkpoint_texts.stopped_ends_text", "Stopped: “{}” ends a text.",
                        checkpoint::label_of(model, id)));
    else if (!state().model.generation_blocked_reason.empty())
        stop_writing();
}

} // namespace headscope::app
