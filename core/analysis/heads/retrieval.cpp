#include "core/analysis/heads/retrieval.h"

#include "core/base/assets.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/parse.h"
#include "core/checkpoint/generation/generator.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace headscope::analysis {

namespace {

using checkpoint::TextModel;

/// A text as the tokenizer cuts it, and where each of its letters begins.
struct Cut {
    text::Encoding encoding;
    std::vector<std::size_t> bytes; ///< of each letter; one more for the end

    Cut(const text::Tokenizer& tokenizer, std::string_view of) : encoding(tokenizer.encode(of)) {
        text::for_each_code_point(of, [&](char32_t, std::size_t at, std::size_t) { bytes.push_back(at); });
        bytes.push_back(of.size());
    }
    /// Tokens that come from the text; those of the post-processor do not count.
    std::int64_t tokens() const {
        return std::ranges::count_if(encoding.offsets,
                                     [](const text::TextSpan& span) { return span != text::TextSpan(); });
    }
    /// The byte behind the first `count` tokens that come from the text.
    std::size_t bytes_of(std::int64_t count) const {
        std::int32_t end = 0;
        for (const text::TextSpan& span : encoding.offsets)
            if (span != text::TextSpan() && count-- > 0)
                end = span.end;
        return bytes[static_cast<std::size_t>(end)];
    }
};

/// The bytes up to the last end of a sentence within the first `at` bytes.
std::size_t sentence_end(std::string_view text, std::size_t at) {
    const std::size_t mark = text.substr(0, at).find_last_of(".!?\n");
    if (mark == std::string_view::npos)
        return 0;
    return std::min(text.find_first_not_of("\"')", mark + 1), text.size()); // the quotation ends too
}

std::string_view without_blanks(std::string_view text) {
    return trimmed(text, " \t\r\n");
}

void check(const TextModel& model, const NeedleOptions& options) {
    const checkpoint::ModelConfig& config = model.model->config();
    if (config.encoder != nullptr || !config.causal)
        fail_input(tr("retrieval.model_not_go_one",
                      "a {} model does not continue a text, so it retrieves nothing; open a causal model",
                      config.family));
    if (model.tokenizer == nullptr)
        fail_input(model.no_tokenizer + " " +
                   tr("retrieval.needle_haystack_texts", "A needle and its haystack are texts."));
    for (const auto& [fault, text] :
         {std::pair(translatable("retrieval.haystack_empty_give_text", "the haystack is empty; give a text"),
                    &options.haystack),
          std::pair(translatable("retrieval.needle_empty_give_text", "the needle is empty; give a text"),
                    &options.needle),
          std::pair(translatable("retrieval.question_empty_give_text", "the question is empty; give a text"),
                    &options.question)})
        if (without_blanks(*text).empty())
            fail_input(tr(fault));
    if (options.depths < 1)
        fail_input(tr("retrieval.needle_put_places_give",
                      "the needle should have at least 1 position, not {}", options.depths));
}

/// The tokens of `text` that hold a letter of its bytes [from, from + size).
void mark_needle(const Cut& cut, std::size_t from, std::size_t size, NeedleText& out) {
    const auto holds = [&](const text::TextSpan& span) {
        return span != text::TextSpan() && cut.bytes[static_cast<std::size_t>(span.end)] > from &&
               cut.bytes[static_cast<std::size_t>(span.begin)] < from + size;
    };
    const auto& offsets = cut.encoding.offsets;
    const auto first = std::ranges::find_if(offsets, holds);
    out.first = first - offsets.begin();
    out.end = std::find_if_not(first, offsets.end(), holds) - offsets.begin();
}

NeedleText needle_text(const text::Tokenizer& tokenizer, std::string_view haystack,
                       const NeedleOptions& options, std::int64_t depth) {
    NeedleText out{.ids = {},
                   .depth = options.depths == 1
                                ? 0.5
                                : static_cast<double>(depth) / static_cast<double>(options.depths - 1)};
    const Cut whole(tokenizer, haystack);
    out.length = whole.tokens();
    const std::size_t at =
        sentence_end(haystack, whole.bytes_of(std::llround(out.depth * static_cast<double>(out.length))));
    const std::string_view needle = without_blanks(options.needle);
    std::string text;
    std::size_t from = 0;
    for (const std::string_view part :
         {without_blanks(haystack.substr(0, at)), needle, without_blanks(haystack.substr(at)),
          without_blanks(options.question)}) {
        text += text.empty() || part.empty() ? "" : " ";
        if (part.data() == needle.data())
            from = text.size();
        text += part;
    }
    const Cut cut(tokenizer, text);
    out.ids.assign(cut.encoding.ids.begin(), cut.encoding.ids.end());
    mark_needle(cut, from, needle.size(), out);
    return out;
}

/// The different tokens of the needle.
std::set<std::int64_t> needle_of(const NeedleText& text) {
    return {text.ids.begin() + text.first, text.ids.begin() + text.end};
}

/// What each head copied of one needle, and what the model wrote of it.
struct Copied {
    std::vector<std::set<std::int64_t>> heads; ///< (L * H)
    std::set<std::int64_t> written;
};

/// Adds a token to the heads of layers with attention whose largest weight in the row that predicts it lies
/// on it in the needle.
void add_token(Copied& copied, const NeedleText& text, std::int64_t token, const Tensor& rows,
               const checkpoint::ModelConfig& config) {
    if (needle_of(text).contains(token))
        copied.written.insert(token);
    const std::span<const float> all = rows.values();
    const std::size_t T = all.size() / copied.heads.size();
    for (std::size_t n = 0; n < copied.heads.size(); ++n) {
        if (!config.has_attention(static_cast<std::int64_t>(n) / config.H))
            continue;
        const auto row = all.subspan(n * T, T);
        const std::int64_t j = std::ranges::max_element(row) - row.begin();
        if (j >= text.first && j < text.end && text.ids[static_cast<std::size_t>(j)] == token)
            copied.heads[n].insert(token);
    }
}

Copied answer(const TextModel& model, const checkpoint::ModelEdits& edits, const NeedleText& text,
              Progress& progress) {
    const checkpoint::ModelConfig& config = model.model->config();
    Copied copied{std::vector<std::set<std::int64_t>>(static_cast<std::size_t>(config.layers * config.H)),
                  {}};
    checkpoint::Generator generator(model.model, checkpoint::token_inputs(model, text.ids), edits);
    generator.keep_weights(true);
    for (std::int64_t n = 0; n < text.end - text.first && !generator.full(); ++n) {
        const checkpoint::Distribution next = generator.next({}, 1, progress);
        const std::int64_t token = next.candidates[next.taken].id;
        if (std::ranges::find(model.end_ids, token) != model.end_ids.end())
            break;
        add_token(copied, text, token, *generator.last_weights(progress), config);
        generator.append(token);
    }
    return copied;
}

} // namespace

NeedleOptions usual_needle() {
    return {.haystack = asset("texts/haystack.txt"),
            .needle = "\"Purple river seven candle wheel mountain,\" said Felix.",
            .question = "\"Purple river"};
}

std::vector<NeedleText> needle_texts(const TextModel& model, const NeedleOptions& options) {
    check(model, options);
    const text::Tokenizer& tokenizer = *model.tokenizer;
    const std::string_view haystack = without_blanks(options.haystack);
    const Cut whole(tokenizer, haystack);
    const std::int64_t all = whole.tokens(), begin = std::ssize(whole.encoding.ids) - all,
                       needle = Cut(tokenizer, without_blanks(options.needle)).tokens(),
                       question = Cut(tokenizer, without_blanks(options.question)).tokens(),
                       // Between two parts there is a blank, which may be a token of its own.
        others = begin + 2 * needle + question + 3, room = model.model->config().longest_text - others;
    if (room < 1)
        fail_input(tr("retrieval.needle_question_answer_take",
                      "needle, question and answer take {} tokens, and the model has positions for {}; give "
                      "a shorter needle",
                      others, model.model->config().longest_text));
    const std::int64_t most = std::min(all, room);
    std::vector<std::int64_t> lengths = options.lengths;
    if (lengths.empty())
        for (const std::int64_t parts : {4, 2, 1})
            lengths.push_back(std::max<std::int64_t>(most / parts, 1));
    std::vector<NeedleText> texts;
    for (const std::int64_t length : lengths) {
        if (length < 1 || length > most)
            fail_input(tr("retrieval.haystack_tokens_asked_text",
                          "the haystack should have {} tokens; the text has {}, and with the needle the "
                          "model has positions for {}; give a length from 1 to the smaller of the two",
                          length, all, room));
        const std::size_t bytes = whole.bytes_of(length), end = sentence_end(haystack, bytes);
        for (std::int64_t depth = 0; depth < options.depths; ++depth)
            texts.push_back(
                needle_text(tokenizer, haystack.substr(0, end > 0 ? end : bytes), options, depth));
    }
    return texts;
}

Retrieval retrieval(const TextModel& model, const checkpoint::ModelEdits& edits,
                    const std::vector<NeedleText>& texts, const std::function<void(const Retrieval&)>& put,
                    Progress& progress) {
    const checkpoint::ModelConfig& config = model.model->config();
    const auto H = static_cast<std::size_t>(config.H);
    Retrieval sum;
    sum.scores.assign(static_cast<std::size_t>(config.layers), std::vector<double>(H, 0));
    Retrieval mean = sum;
    for (const NeedleText& text : texts) {
        const Copied copied = answer(model, edits, text, progress);
        const auto different = static_cast<double>(needle_of(text).size());
        const auto count = static_cast<double>(mean.texts = ++sum.texts);
        mean.written = (sum.written += static_cast<double>(copied.written.size()) / different) / count;
        for (std::size_t n = 0; n < copied.heads.size(); ++n) {
            double& of_head = sum.scores[n / H][n % H];
            of_head += static_cast<double>(copied.heads[n].size()) / different;
            mean.scores[n / H][n % H] = of_head / count;
        }
        put(mean);
        progress.report(static_cast<float>(count) / static_cast<float>(texts.size()));
    }
    return mean;
}

} // namespace headscope::analysis
