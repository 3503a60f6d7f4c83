#include "app/state/attention_document.h"

#include "app/state/view_state.h"
#include "core/base/message.h"

namespace headscope::app {

namespace {

Problem problem_of(const AttentionSet& set, std::int64_t layer) {
    const AttentionInfo& info = set.info();
    Problem problem;
    problem.dims = {.B = 1, .Tq = info.Tq, .Tk = info.Tk, .H = info.H, .Hkv = info.H};
    problem.tokens = set.query_tokens(layer);
    if (info.Tq != info.Tk || &set.key_tokens(layer) != &set.query_tokens(layer)) {
        // Separate keys occur in cross-attention; the vectors are unknown, so the tensor has no columns.
        problem.x_kv = std::make_shared<const Tensor>(Shape{1, info.Tk, 0});
        problem.kv_tokens = set.key_tokens(layer);
    }
    return problem;
}

} // namespace

DocumentPtr attention_document(const AttentionSetPtr& set, std::int64_t layer, const LoadedHeads& read,
                               const Document& before) {
    auto document = std::make_shared<Document>();
    document->recipe = before.recipe;
    document->kind = GivenWeights{set, layer, read};
    document->title = set->info().title;
    if (const std::string chosen = chosen_attention_text(set->info()); !chosen.empty())
        document->title += " · " + chosen;
    document->revision = before.revision + 1;
    document->problem = problem_of(*set, layer);
    document->unedited = std::make_shared<const Problem>(document->problem);
    return document;
}

DocumentPtr with_layer(const Document& document, std::int64_t layer, const LoadedHeads& read) {
    return attention_document(document.given()->set, layer, read, document);
}

std::string attention_part_name(const std::string& id) {
    return id == "encoder"   ? tr("stack_words.encoder_attention", "Encoder attention")
           : id == "decoder" ? tr("stack_words.decoder_self_attention", "Decoder self-attention")
                             : tr("stack_words.cross_attention", "Cross-attention");
}

std::string text_number_text(std::int64_t text, std::int64_t texts) {
    return tr("attention_document.text_number", "Text {} of {}", text + 1, texts);
}

std::string chosen_attention_text(const AttentionInfo& info) {
    if (info.options == nullptr)
        return {};
    const std::string part = info.choice.part.empty() ? "" : attention_part_name(info.choice.part);
    if (!info.choice.text)
        return part;
    const std::int64_t texts = info.options->find(info.choice.part)->texts;
    const std::string text = text_number_text(*info.choice.text, texts);
    return part.empty() ? text : text + ", " + part;
}

LoadedHeads heads_to_read(const AttentionInfo& info, const ViewState& view) {
    constexpr std::int64_t small = std::int64_t{1} << 24U; // numbers of one layer: 64 MB
    if (info.H * info.Tq * info.Tk <= small || Document::too_large_to_hold(info.H, info.Tq, info.Tk))
        return {};
    const std::int64_t open = std::clamp<std::int64_t>(view.head, 0, info.H - 1);
    LoadedHeads read{.heads = {open}, .mean = view.heads_view == HeadsView::mean};
    if (view.heads_view == HeadsView::difference && view.compared_head != open && view.compared_head < info.H)
        read.heads.insert(view.compared_head < open ? read.heads.begin() : read.heads.end(),
                          view.compared_head);
    return read;
}

bool are_loaded(const LoadedHeads& wanted, const LoadedHeads& read) {
    if (read.all() || wanted.all())
        return read.all() == wanted.all();
    return std::ranges::includes(read.heads, wanted.heads) && (read.mean || !wanted.mean);
}

void clamp_to_loaded(ViewState& view, const LoadedHeads& read) {
    if (read.all())
        return;
    if (!read.has(view.head))
        view.head = read.heads.front();
    if (view.heads_view == HeadsView::mean ? !read.mean : !read.has(view.compared_head))
        view.heads_view = HeadsView::each;
    for (auto* const cell : {&view.selected, &view.hover})
        if (*cell && (*cell)->tensor == TensorId::weights)
            (*cell)->at[1] = view.head;
}

} // namespace headscope::app
