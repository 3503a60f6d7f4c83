#include "core/analysis/effects/logit_attribution.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/generation/predictions.h"
#include "core/lesson/additional_passes.h"
#include "core/lesson/expression_node.h"
#include "core/lesson/panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

namespace headscope::lesson {

namespace {

using Arguments = std::vector<LessonValue>;

/// One call of a function on a checkpoint's run.
class ModelCall {
public:
    ModelCall(std::string name, const Arguments& arguments, const LessonState& state,
              const LessonModel& model)
        : name_(std::move(name)), arguments_(arguments), state_(state), model_(model) {}

    LessonValue probability(const TensorPtr& logits) const {
        need(1, 2);
        const std::span<const float> row = logits_at(logits, 1);
        const std::int64_t id = token(0, row);
        return static_cast<double>(checkpoint::chances_of(row, std::array{id}).front());
    }
    LessonValue logit() const {
        need(1, 2);
        const std::span<const float> row = logits_at(model_.run.logits, 1);
        return static_cast<double>(row[static_cast<std::size_t>(token(0, row))]);
    }
    LessonValue likeliest() const {
        need(1, 2);
        return word_of(model_, token(0, logits_at(model_.run.logits, 1)));
    }
    LessonValue kl() const {
        need(0, 0);
        return checkpoint::compare_predictions(logits_at(model_.unedited_logits, 0),
                                               logits_at(model_.run.logits, 0), 0)
            .kl;
    }
    /// The sum over the components that the first argument names.
    LessonValue attribution() const {
        need(2, 3);
        using WriterKind = analysis::Writer::Kind;
        const auto* const words = std::get_if<std::string>(&arguments_[0]);
        const auto* const head = std::get_if<double>(&arguments_[0]);
        if (words != nullptr && *words != "mlp" && *words != "embedding")
            fail_input(tr("model_functions.attribution_head_number",
                          "attribution takes the number of a head, mlp or embedding, not \"{}\"", *words));
        const auto wanted = [&](const analysis::Writer& writer) {
            if (words != nullptr && *words == "embedding")
                return writer.kind == WriterKind::embedding || writer.kind == WriterKind::position;
            return writer.layer == state_.layer &&
                   (words != nullptr
                        ? writer.kind == WriterKind::mlp
                        : writer.kind == WriterKind::head && static_cast<double>(writer.head) == *head);
        };
        const std::span<const float> row = logits_at(model_.run.logits, arguments_.size());
        const auto all = analysis::logit_attribution(
            *model_.numbers,
            analysis::question_of(model_.inputs.T - 1, token(1, row),
                                  arguments_.size() == 3 ? std::optional(token(2, row)) : std::nullopt),
            Progress());
        if (std::ranges::none_of(all.parts, wanted, &analysis::LogitPart::writer))
            fail_input(
                tr("model_functions.attribution_names_head", "attribution names a head that does not exist"));
        return sum_of_parts(all, wanted);
    }
    LessonValue lost() const {
        need(2, 3);
        const std::span<const float> row = logits_at(model_.run.logits, arguments_.size());
        return model_.additional->ablation_loss(
            {state_.layer, head_number(0)},
            {token(1, row), arguments_.size() == 3 ? std::optional(token(2, row)) : std::nullopt});
    }
    LessonValue recovered() const {
        need(4, 4);
        const auto* const id = std::get_if<std::string>(&arguments_[0]);
        const auto kinds = analysis::patch_kinds();
        const auto kind = std::ranges::find(kinds, id == nullptr ? "" : *id, &analysis::PatchKindInfo::id);
        if (kind == kinds.end())
            fail_input(tr("model_functions.recovered_takes_patched",
                          "recovered takes the patched activation, such as head or residual"));
        const std::span<const float> row = logits_at(model_.run.logits, arguments_.size());
        return model_.additional->recovered(kind->kind, state_.layer,
                                            kind->by_head ? head_number(1) : position(arguments_[1]),
                                            {token(2, row), token(3, row)});
    }
    LessonValue path() const {
        need(5, 5);
        const auto word = [&](std::size_t n) {
            const auto* const text = std::get_if<std::string>(&arguments_[n]);
            if (text == nullptr)
                fail_input(tr("model_functions.path_takes_words_two",
                              "path takes words: two heads in quotation marks, such as \"0.4\", and the "
                              "changed input of the second"));
            return *text;
        };
        using enum analysis::PatchKind;
        const std::array<std::pair<std::string_view, analysis::PatchKind>, 3> inputs{
            {{"queries", q}, {"keys", k}, {"values", v}}};
        const auto input = std::ranges::find(inputs, word(2), [](const auto& known) { return known.first; });
        if (input == inputs.end())
            fail_input(tr("model_functions.path_ends_queries_keys",
                          "path ends in queries, keys or values of a head"));
        const std::span<const float> row = logits_at(model_.run.logits, arguments_.size());
        return model_.additional->path(head_place(word(0)), head_place(word(1)), input->second,
                                       {token(3, row), token(4, row)});
    }

private:
    void need(std::size_t low, std::size_t high) const {
        if (arguments_.size() < low || arguments_.size() > high)
            fail_input(high > low
                           ? tr("common.given_arguments_takes",
                                "{} was given {} arguments and takes {} or {}", name_, arguments_.size(), low,
                                high)
                           : tr("common.given_arguments_takes_2", "{} was given {} arguments and takes {}",
                                name_, arguments_.size(), low));
    }

    /// The logits at the position in argument `n`, or at the last token without that argument.
    std::span<const float> logits_at(const TensorPtr& logits, std::size_t n) const {
        const std::int64_t at = n < arguments_.size() ? position(arguments_[n]) : model_.inputs.T - 1;
        const auto vocab = static_cast<std::size_t>(logits->shape().back(0));
        return logits->values().subspan(static_cast<std::size_t>(at) * vocab, vocab);
    }

    std::int64_t position(const LessonValue& argument) const {
        TargetIndex index{.kind = TargetIndex::Kind::number, .first = 0, .end = 1, .word = {}};
        if (const auto* const word = std::get_if<std::string>(&argument))
            index = parse_index(*word);
        else
            index.first = static_cast<std::int64_t>(std::get<double>(argument));
        return query_row(index, state_.problem);
    }

    std::int64_t head_number(std::size_t n) const {
        const auto* const number = std::get_if<double>(&arguments_[n]);
        if (number == nullptr || *number != std::floor(*number))
            fail_input(tr("model_functions.takes_number_head", "{} takes the number of a head", name_));
        return static_cast<std::int64_t>(*number);
    }

    /// Argument `n` is a word, or the rank of a token by probability, from 1.
    std::int64_t token(std::size_t n, std::span<const float> logits) const {
        if (const auto* const word = std::get_if<std::string>(&arguments_[n]))
            return checkpoint::word_token(*model_.model, *word);
        const double place = std::get<double>(arguments_[n]);
        if (place < 1 || place != std::floor(place) || place > static_cast<double>(logits.size()))
            fail_input(tr("model_functions.takes_word_1_likeliest",
                          "{} takes a word, or 1 for the likeliest token, 2 for the next", name_));
        return checkpoint::likeliest(logits, static_cast<std::size_t>(place)).back().id;
    }

    std::string name_;
    const Arguments& arguments_;
    const LessonState& state_;
    const LessonModel& model_;
};

} // namespace

std::optional<LessonValue> model_function(const std::string& name, const Arguments& arguments,
                                          const LessonState& state) {
    using Function = LessonValue (*)(const ModelCall&, const LessonModel&);
    static const std::map<std::string_view, Function> functions{
        {"probability",
         [](const ModelCall& call, const LessonModel& m) { return call.probability(m.run.logits); }},
        {"before",
         [](const ModelCall& call, const LessonModel& m) { return call.probability(m.unedited_logits); }},
        {"logit", [](const ModelCall& call, const LessonModel&) { return call.logit(); }},
        {"likeliest", [](const ModelCall& call, const LessonModel&) { return call.likeliest(); }},
        {"kl", [](const ModelCall& call, const LessonModel&) { return call.kl(); }},
        {"attribution", [](const ModelCall& call, const LessonModel&) { return call.attribution(); }},
        {"lost", [](const ModelCall& call, const LessonModel&) { return call.lost(); }},
        {"path", [](const ModelCall& call, const LessonModel&) { return call.path(); }},
        {"recovered", [](const ModelCall& call, const LessonModel&) { return call.recovered(); }}};
    const auto found = functions.find(name);
    if (found == functions.end())
        return {};
    if (state.model == nullptr)
        fail_input(tr("model_functions.reads_models_predictions",
                      "{} reads a model's predictions, and no model is on screen", name));
    return found->second(ModelCall(name, arguments, state, *state.model), *state.model);
}

} // namespace headscope::lesson
