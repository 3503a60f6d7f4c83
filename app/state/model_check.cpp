#include "app/state/model_check.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace headscope::app {

namespace {

struct TitledKind {
    std::string_view ending; ///< of ReferenceRow::kind, which may begin with the stack
    Message title;
};
constexpr std::array<TitledKind, 6> all_kinds{
    {{"attentions", translatable("model_check.attention_weights", "Attention weights")},
     {"hidden", translatable("model_check.residual_stream", "Residual stream")},
     {"logits", translatable("model_check.logits", "Logits")},
     {"residual sums", translatable("model_check.residual_sums", "Sums of the residual stream")},
     {"weight sums", translatable("model_check.weight_sums", "Sums of weights against 1")},
     {"second run", translatable("model_check.second_run", "Second run")}}};

/// The difference as a fraction of what is allowed.
double used_fraction(const checkpoint::ReferenceRow& row) {
    if (row.allowed > 0)
        return row.difference / row.allowed;
    return row.difference > 0 ? std::numeric_limits<double>::infinity() : 0;
}

} // namespace

bool ModelCheck::failed() const {
    return !std::ranges::all_of(rows, &checkpoint::ReferenceRow::agrees);
}

std::vector<CheckedKind> ModelCheck::kinds() const {
    std::vector<CheckedKind> found;
    for (const TitledKind& kind : all_kinds) {
        const checkpoint::ReferenceRow* worst = nullptr;
        for (const checkpoint::ReferenceRow& row : rows)
            if (row.kind.ends_with(kind.ending) &&
                (worst == nullptr || used_fraction(row) > used_fraction(*worst)))
                worst = &row;
        if (worst != nullptr)
            found.push_back({kind.title, *worst});
    }
    return found;
}

std::string ModelCheck::sentence() const {
    if (!error.empty())
        return error;
    if (!failed())
        return tr("model_check.agrees",
                  "Checked at {} with {} tokens: every layer agrees with the same computation in double "
                  "precision.",
                  time, tokens);
    std::string wrong;
    for (const CheckedKind& kind : kinds())
        if (!kind.agrees())
            wrong += (wrong.empty() ? "" : ", ") + tr(kind.title);
    return tr("model_check.failed",
              "Checked at {} with {} tokens: these numbers are wrong: {}. headscope model check lists them "
              "by layer.",
              time, tokens, wrong);
}

} // namespace headscope::app
