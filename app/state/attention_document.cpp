#include "app/state/attention_document.h"

namespace headscope::app {

namespace {

Problem problem_of(const AttentionSet& set, std::int64_t layer) {
    const AttentionInfo& info = set.info();
    Problem problem;
    problem.dims = {.B = 1, .Tq = info.Tq, .Tk = info.Tk, .H = info.H, .Hkv = info.H};
    problem.tokens = set.query_tokens(layer);
    if (info.Tq != info.Tk || &set.key_tokens(layer) != &set.query_tokens(layer)) {
        // Keys of their own are what cross-attention has; its vectors are not known and have no numbers.
        problem.x_kv = std::make_shared<const Tensor>(Shape{1, info.Tk, 0});
        problem.kv_tokens = set.key_tokens(layer);
    }
    return problem;
}

} // namespace

DocumentPtr attention_document(const AttentionSetPtr& set, std::int64_t layer, const Document& before) {
    auto document = std::make_shared<Document>();
    document->recipe = before.recipe;
    document->kind = GivenWeights{set, layer};
    document->title = set->info().title;
    document->revision = before.revision + 1;
    document->problem = problem_of(*set, layer);
    document->unedited = std::make_shared<const Problem>(document->problem);
    return document;
}

DocumentPtr with_layer(const Document& document, std::int64_t layer) {
    return attention_document(document.given()->set, layer, document);
}

} // namespace headscope::app
