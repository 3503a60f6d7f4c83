#include "core/analysis/heads/probe.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/text/random_numbers.h"
#include "core/text/word_pieces.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace headscope::analysis {

namespace {

bool is_special(const text::Tokenizer& tokenizer, text::TokenId id) {
    return text::is_special_token(tokenizer.token_text(id)) ||
           (tokenizer.decode({&id, 1}, true).empty() && !tokenizer.decode({&id, 1}, false).empty());
}

/// The ids from which random tokens are drawn, ascending.
std::vector<std::int64_t> ordinary_tokens(const checkpoint::TextModel& model) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(model.model->config().vocab));
    std::iota(ids.begin(), ids.end(), std::int64_t{0});
    std::erase_if(ids, [&](std::int64_t id) {
        if (std::ranges::find(model.end_ids, id) != model.end_ids.end())
            return true;
        const auto token = static_cast<text::TokenId>(id);
        return model.tokenizer != nullptr &&
               (model.tokenizer->token_text(token).empty() || is_special(*model.tokenizer, token));
    });
    return ids;
}

/// What the tokenizer puts before a text, such as <s>.
std::vector<std::int64_t> beginning(const checkpoint::TextModel& model) {
    if (model.tokenizer == nullptr)
        return {};
    const text::Encoding encoding = model.tokenizer->encode("a");
    const auto first = std::ranges::find_if(
        encoding.offsets, [](const text::TextSpan& span) { return span != text::TextSpan(); });
    if (first == encoding.offsets.end())
        return {};
    return {encoding.ids.begin(), encoding.ids.begin() + (first - encoding.offsets.begin())};
}

} // namespace

std::vector<std::vector<std::int64_t>> probe_texts(const checkpoint::TextModel& model,
                                                   const ProbeOptions& options) {
    const checkpoint::ModelConfig& config = model.model->config();
    if (config.encoder != nullptr)
        fail_input(tr("probe.model_reads_two_texts",
                      "a {} model reads two texts, and a probe is one; give a text and one for the decoder",
                      config.family));
    if (options.length < 1 || options.batch < 1)
        fail_input(tr("probe.probe_texts_random_tokens",
                      "a probe of {} texts with {} random tokens is empty; give at least 1 of each",
                      options.batch, options.length));
    const std::vector<std::int64_t> begin = beginning(model), ordinary = ordinary_tokens(model);
    const std::int64_t most = (config.longest_text - std::ssize(begin)) / 2;
    if (options.length > most)
        fail_input(tr("probe.probe_random_tokens_said",
                      "a probe of {} random tokens, repeated once, is longer than the {} tokens for which "
                      "the model has positions; give a length of at most {}",
                      options.length, config.longest_text, most));
    if (ordinary.empty())
        fail_input(tr("probe.special_tokens_alone_probe",
                      "{} has only special tokens, and a probe needs others; give a text",
                      model.model->path()));
    text::RandomNumbers random(options.seed);
    std::vector<std::vector<std::int64_t>> texts(static_cast<std::size_t>(options.batch), begin);
    for (std::vector<std::int64_t>& text : texts) {
        std::vector<std::int64_t> said(static_cast<std::size_t>(options.length));
        std::ranges::generate(said, [&] { return ordinary[random.next() % ordinary.size()]; });
        for (int times = 0; times < 2; ++times)
            text.insert(text.end(), said.begin(), said.end());
    }
    return texts;
}

} // namespace headscope::analysis
