#include "app/session/checkpoint_session.h"

#include "app/commands/command.h"
#include "core/base/error.h"
#include "core/base/overloaded.h"
#include "core/checkpoint/model/patch_file.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

bool same_numbers(const TensorPtr& a, const TensorPtr& b) {
    return a == b || (a->shape() == b->shape() && std::ranges::equal(a->values(), b->values()));
}

/// Brings the view to what the checkpoint has; follow_look knows which heads there are.
void keep_to_model(ViewState& view) {
    view.batch = 0;
    view.brush = {}; // the mask is the model's
    if (view.tab == LeftTab::course)
        view.tab = LeftTab::predictions;
}

} // namespace

CheckpointSession::CheckpointSession(SessionHost& host)
    : Session(host), board_(host.state(), host.wake()), desk_(host.wake()) {
    state().model.prompt = state().document->part()->prompt;
}

CheckpointSession::CheckpointSession(SessionHost& host, const OpenedModel& opened)
    : Session(host), board_(host.state(), host.wake()),
      desk_(host.wake()), wanted_{opened.part, opened.layer, std::nullopt} {
    ModelState& model = state().model;
    model = {};
    model.prompt = opened.part->prompt;
    model.run = model.unedited = opened.run;
    model.predictions = opened.predictions;
    desk_.begin_with(opened.run);
    known_layers_[opened.layer] = {opened.part->inputs, opened.base};
}

CheckpointSession::~CheckpointSession() {
    state().model = {};
    state().view.attention.possible = {};
    if (state().view.tab == LeftTab::predictions)
        state().view.tab = LeftTab::guide;
}

void CheckpointSession::follow() {
    keep_to_model(state().view);
    const ModelPartPtr part = state().document->part();
    const std::int64_t L = part->model->model->architecture().layers;
    const std::int64_t open = state().document->layer();
    // A mean over layers is none that could be edited: the layer before stays.
    const std::int64_t wanted = std::max<std::int64_t>(state().view.attention.layer, 0);
    const std::int64_t layer = wanted < L ? wanted : state().view.attention.reading.means ? open : L - 1;
    if (layer != open)
        if (const auto base = known_layer(*part, layer))
            show_layer(layer, base);
    follow_look();
    ask(layer);
}

void CheckpointSession::ask(std::int64_t layer) {
    const ModelPartPtr& part = state().document->part();
    ModelDesk::Wish wish{part, layer, state().model.position};
    if (typed_prompt_ && wanted_.part->inputs == nullptr &&
        !first_difference(wanted_.part->edits, part->edits)) {
        wish.part = wanted_.part;
    } else if (typed_prompt_) {
        auto typed = std::make_shared<ModelPart>(*part);
        typed->prompt = *typed_prompt_;
        typed->inputs = nullptr;
        wish.part = std::move(typed);
    }
    if (wish.part == wanted_.part && wish.layer == wanted_.layer && wish.position == wanted_.position)
        return;
    wanted_ = wish;
    desk_.want(std::move(wish));
}

void CheckpointSession::act(const ModelAction& action) {
    std::visit(Overloaded{[&](const TypePrompt& c) {
                              state().model.prompt = c.prompt;
                              typed_prompt_ = c.prompt;
                              typed_gesture_ = host().gesture();
                              wanted_ = {};
                              wanted_.part = state().document->part();
                          },
                          [&](const PredictAt& c) {
                              state().model.position.reset();
                              if (c.position >= 0)
                                  state().model.position = c.position;
                          }},
               action);
    follow();
}

void CheckpointSession::take_results() {
    if (const auto answer = desk_.poll())
        use(*answer);
    state().model.running = desk_.busy();
    state().model.fraction = desk_.fraction();
}

void CheckpointSession::settle() {
    do {
        desk_.wait();
        take_results();
    } while (desk_.busy());
    board_.wait();
}

void CheckpointSession::use(const ModelDesk::Answer& answer) {
    if (answer.asked != wanted_.part)
        return;
    if (!answer.error.empty()) {
        state().model.error = answer.error;
        typed_prompt_.reset();
        return;
    }
    const bool typed = answer.asked->inputs == nullptr;
    std::optional<std::int64_t> changed_from; // where the board's weights differ from those before
    if (answer.run != nullptr) {
        ModelState& model = state().model;
        model.error.clear();
        const checkpoint::ModelRunPtr before = std::exchange(model.run, answer.run);
        const bool same_text = before != nullptr && before->inputs() == answer.run->inputs() && !typed;
        if (answer.run != before)
            model.recomputed = same_text ? recomputed_layers(*answer.run) : "";
        model.unedited = answer.unedited;
        model.predictions = answer.predictions;
        if (same_text)
            changed_from =
                first_difference(before->edits(), answer.run->edits()).value_or(answer.run->info().L);
    }
    const Document& now = *state().document;
    if (typed) {
        if (answer.run == nullptr)
            return;
        typed_prompt_.reset();
        wanted_ = {answer.part, answer.layer, wanted_.position};
        known_layers_[answer.layer] = {answer.part->inputs, answer.base};
        state().view.selected.reset();
        host().push({model_document(answer.part, answer.layer, answer.base, now.revision + 1),
                     "type a prompt",
                     {},
                     prompt_change,
                     typed_gesture_});
    } else if (answer.layer != now.layer() || !same_numbers(answer.base->x, now.unedited->x)) {
        show_layer(answer.layer, answer.base);
    }
    follow_look(changed_from);
}

std::shared_ptr<const Problem> CheckpointSession::known_layer(const ModelPart& part,
                                                              std::int64_t layer) const {
    const auto known = known_layers_.find(layer);
    return known == known_layers_.end() || known->second.inputs != part.inputs ? nullptr
                                                                               : known->second.base.lock();
}

void CheckpointSession::show_layer(std::int64_t layer, const std::shared_ptr<const Problem>& base) {
    const Document& now = *state().document;
    if (layer != now.layer())
        host().drop_baseline();
    known_layers_[layer] = {now.part()->inputs, base};
    state().document = model_document(now.part(), layer, base, now.revision + 1);
    if (look_.document() == nullptr)
        host().compute(state().document);
}

std::string CheckpointSession::not_now() const {
    const bool comes =
        state().model.error.empty() && wanted_.part != nullptr && wanted_.layer != state().document->layer();
    return comes ? "Layer " + std::to_string(wanted_.layer) +
                       " is being opened: nothing was changed; edit it once it is shown."
                 : "";
}

std::string CheckpointSession::step_name(std::string name) const {
    return open_layer_name(*state().document) + " " + name;
}

DocumentPtr CheckpointSession::restored(const DocumentPtr& next) {
    if (!next->is_checkpoint())
        return next;
    typed_prompt_.reset();
    state().model.prompt = next->part()->prompt;
    state().model.error.clear();
    const std::int64_t layer = first_difference(state().document->part()->edits, next->part()->edits)
                                   .value_or(state().view.attention.layer);
    state().view.attention.layer = layer;
    const auto base = known_layer(*next->part(), layer);
    if (base == nullptr || layer == next->layer())
        return next;
    return model_document(next->part(), layer, base, state().document->revision + 1);
}

const DocumentPtr& CheckpointSession::wanted() const {
    return look_.document() != nullptr ? look_.document() : state().document;
}

Dims CheckpointSession::with_means(Dims dims) const {
    if (look_.set() != nullptr)
        dims.H = look_.set()->info().H;
    return dims;
}

bool CheckpointSession::reads_otherwise() const {
    const DocumentPtr& shown = state().shown.document;
    return shown != nullptr && shown->is_checkpoint() && shown->shows_weights();
}

void CheckpointSession::follow_look(std::optional<std::int64_t> changed_from) {
    ViewState& view = state().view;
    const DocumentPtr before = look_.document();
    const AttentionSetPtr was = look_.set();
    try {
        look_.follow(state().model.run, *state().document, view);
    } catch (const Error& fault) {
        state().error = fault.what();
    }
    const DocumentPtr& look = look_.document();
    const AttentionSetPtr& set = look_.set();
    if (was != nullptr && set != nullptr && was != set && (before != nullptr || look != nullptr)) {
        const AttentionInfo &from = was->info(), &to = set->info();
        const bool same_sizes = from.Tq == to.Tq && from.Tk == to.Tk;
        const auto kept = carried(view.selected, *was, *set, 0);
        if (!same_sizes || kept != view.selected) {
            when_shown_.selected = kept;
            view.selected.reset();
            view.block_end.reset();
            view.hover.reset();
            view.row = -1;
        }
        if (!same_sizes)
            view.attention.map = {};
    }
    if (look != nullptr || reads_otherwise()) {
        clamp_to(view, with_means(wanted()->problem.dims));
        if (state().shown.trace != nullptr)
            clamp_to(view, with_means(state().shown.dims()));
    }
    if (look != before)
        host().compute(wanted());
    board_.follow(set, changed_from);
}

void CheckpointSession::came_on_screen() {
    if (state().shown.document->shown_weights() == wanted()->shown_weights())
        when_shown_.take(state().view);
}

void CheckpointSession::check(const FileCommand& command) const {
    if (reads_otherwise() &&
        (std::holds_alternative<ExportScript>(command) || std::holds_alternative<CopyScript>(command)))
        fail_input(
            "The weights on screen are filtered, which no script computes: switch the filters off in Heads, "
            "then export the script.");
}

std::function<void(const std::string& path)> CheckpointSession::writer() const {
    return [part = state().document->part()](const std::string& path) {
        checkpoint::save_patch(*part->model->model, part->edits, path);
    };
}

bool CheckpointSession::same_work(const Document& saved) const {
    const checkpoint::ModelEdits& now = state().document->part()->edits;
    return saved.is_checkpoint() ? !first_difference(now, saved.part()->edits) : now.empty();
}

} // namespace headscope::app
