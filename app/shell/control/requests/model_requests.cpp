#include "app/shell/control/requests/requests.h"
#include "core/base/error.h"
#include "core/base/message.h"

#include <array>

namespace headscope::app {

namespace {

void show_position(Program& program, const RequestValue& value) {
    const checkpoint::ModelRunPtr& run = program.state().model.run;
    const std::int64_t last = run == nullptr ? -1 : run->inputs().T - 1;
    program.act(PredictAt{value.whole(-1, last)});
}

void append_token(Program& program, const RequestValue& value) {
    const std::int64_t vocab = program.state().document->part()->config().vocab;
    program.act(GenerateToken{value.whole(0, vocab - 1)});
}

void remove_tokens(Program& program, const RequestValue& value) {
    program.act(RemoveTokens{value.whole(1, program.state().document->part()->written)});
}

std::string needs_written(const AppState& state) {
    if (const std::string missing = action_missing(state, "take back"); !missing.empty())
        return missing;
    return state.document->part()->written > 0
               ? ""
               : tr("model_requests.needs_written", "The text ends with no generated token");
}

void set_sampling(Program& program, const RequestValue& value) {
    value.allow({"temperature", "top-k", "top-p", "seed"});
    if (!value.is_object())
        fail_input(tr("model_requests.sampling_object",
                      "\"sampling\" takes an object with fields, for example {}", R"({"temperature": 0.7})"));
    checkpoint::SamplingSettings settings = program.state().model.sampling;
    if (const auto temperature = value.find("temperature"))
        settings.temperature = temperature->number();
    if (const auto top_k = value.find("top-k"))
        settings.top_k = top_k->is_text() && top_k->text() == "all"
                             ? std::nullopt
                             : std::optional(top_k->whole(1, 1'000'000'000));
    if (const auto top_p = value.find("top-p"))
        settings.top_p =
            top_p->is_text() && top_p->text() == "all" ? std::nullopt : std::optional(top_p->number());
    if (const auto seed = value.find("seed"))
        settings.seed = seed->seed();
    program.act(SetSampling{settings});
}

std::string needs_branches(const AppState& state) {
    return !state.model.branches.empty()
               ? ""
               : tr("model_requests.needs_branches", "There are no earlier continuations of this prompt");
}

void select_branch(Program& program, const RequestValue& value) {
    const auto count = static_cast<std::int64_t>(program.state().model.branches.size());
    program.act(SelectBranch{static_cast<std::size_t>(value.whole(0, count - 1))});
}

void ask_effects(Program& program, const RequestValue& value) {
    using What = AskEffects::What;
    value.allow({"token", "against"});
    const std::optional<RequestValue> token = value.is_object() ? value.find("token") : std::optional(value),
                                      against = value.find("against");
    if (!token && !against)
        fail_input(
            tr("request_value.needs_field", "\"{}\" needs the field \"{}\"; add it", value.name(), "token"));
    if (token)
        program.act(token->text().empty() ? AskEffects{} : AskEffects{What::token, token->text()});
    if (against)
        program.act(AskEffects{What::against, against->text()});
}

std::string needs_writing(const AppState& state) {
    return action_missing(state, "write token");
}

} // namespace

std::vector<Request> model_requests() {
    return {
        // clang-format off
        {"position", "a number", "the token after which predictions are shown; -1: the usual one", show_position, needs_checkpoint},
        {"write token", "a number", "appends the token with this id to the text", append_token, needs_writing, RepeatedRequest::prompt},
        {"take back", "a number", "removes this many generated tokens", remove_tokens, needs_written},
        {"write on", "`on` or `off`", "starts or stops writing token after token",
         [](Program& program, const RequestValue& value) { program.act(SetGenerating{value.on()}); }, needs_writing},
        {"sampling", "an object with one or more of `temperature`, `top-k`, `top-p` (a number or `all`) and `seed`", "how the next token is drawn", set_sampling, needs_writing},
        {"branch", "a number", "returns to an earlier continuation, newest first", select_branch, needs_branches},
        {"effects", "TEXT, or an object with `token` and `against`", "the tokens whose logits the [effects](effects.md) explain; empty: the usual ones, `against` empty: the mean", ask_effects, needs_checkpoint},
        {"why", "`on` or `off`", "opens or closes the answer to “Why?” next to the prediction",
         [](Program& program, const RequestValue& value) { program.act(ShowCauses{value.on()}); }, needs_checkpoint},
        {"runs", "`on` or `off`", "continues or stops the runs that fill the map on screen",
         [](Program& program, const RequestValue& value) { program.act(MeasureRuns{value.on()}); }, needs_checkpoint},
        {"swap prompts", "", "swaps the prompt and the second prompt of patching", [](Program& program, const RequestValue&) { program.act(SwapPrompts{}); }, needs_checkpoint},
        {"compare prompts", "", "shows the stages of the second prompt of patching with the difference to the first", [](Program& program, const RequestValue&) { program.act(ComparePrompts{}); }, needs_checkpoint},
        {"leave patch", "", "returns from the run of a patch to the prompt that the activation was taken from", [](Program& program, const RequestValue&) { program.act(LeavePatch{}); }, needs_checkpoint},
        // clang-format on
    };
}

} // namespace headscope::app
