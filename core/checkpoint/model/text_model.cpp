#include "core/checkpoint/model/text_model.h"

#include "core/base/error.h"
#include "core/checkpoint/files/local_models.h"
#include "core/text/tokenizer/token_labels.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace headscope::checkpoint {

namespace {

std::int64_t find_mask(const text::Tokenizer& tokenizer, std::string_view token) {
    if (token.empty())
        return -1;
    const text::Encoding encoding = tokenizer.encode(token);
    const auto at = std::ranges::find_if(encoding.ids,
                                         [&](text::TokenId id) { return tokenizer.token_text(id) == token; });
    return at == encoding.ids.end() ? -1 : *at;
}

std::vector<std::int64_t> parse_ids(const std::string& text) {
    constexpr std::string_view between = " ,;\t\n";
    std::vector<std::int64_t> ids;
    for (std::size_t begin = text.find_first_not_of(between); begin != std::string::npos;) {
        const std::size_t end = std::min(text.find_first_of(between, begin), text.size());
        std::int64_t id = 0;
        const auto [stop, fault] = std::from_chars(text.data() + begin, text.data() + end, id);
        if (fault != std::errc() || stop != text.data() + end)
            fail_input("\"" + text.substr(begin, end - begin) +
                       "\" is no token id; this checkpoint has no tokenizer, so type ids such as 12 7 30");
        ids.push_back(id);
        begin = text.find_first_not_of(between, end);
    }
    return ids;
}

} // namespace

bool TextModel::masked() const {
    return !model->architecture().causal;
}

std::string TextModel::name() const {
    return checkpoint_name(model->folder());
}

TextModelPtr open_text_model(const std::string& folder) {
    auto opened = std::make_shared<TextModel>();
    opened->model = std::make_shared<const Model>(Model::open(folder));
    opened->model->require_runnable();
    try {
        opened->tokenizer = text::load_tokenizer(folder);
        opened->mask_id = find_mask(*opened->tokenizer, opened->model->architecture().mask_token);
    } catch (const Error& fault) {
        opened->no_tokenizer = fault.what();
    }
    return opened;
}

ModelInputs prompt_inputs(const TextModel& model, const std::string& prompt) {
    ModelInputs inputs;
    if (model.tokenizer == nullptr) {
        inputs.ids = parse_ids(prompt);
        for (const std::int64_t id : inputs.ids)
            inputs.tokens.push_back("#" + std::to_string(id));
    } else {
        const text::Encoding encoding = model.tokenizer->encode(prompt);
        inputs.ids.assign(encoding.ids.begin(), encoding.ids.end());
        inputs.tokens = text::token_labels(*model.tokenizer, encoding.ids, text::BlankMark::hidden);
    }
    if (inputs.ids.empty())
        fail_input(model.tokenizer == nullptr ? "There are no token ids; type some, such as 12 7 30."
                                              : "The prompt has no token; type a word.");
    inputs.T = static_cast<std::int64_t>(inputs.ids.size());
    check_inputs(inputs, model.model->architecture());
    return inputs;
}

std::string first_prompt(const TextModel& model) {
    const Architecture& architecture = model.model->architecture();
    const std::int64_t most = std::max<std::int64_t>(1, architecture.longest_text());
    if (model.tokenizer == nullptr) {
        std::string ids;
        for (std::int64_t id = 0; id < std::min({most, architecture.vocab, std::int64_t{8}}); ++id)
            ids += (id == 0 ? "" : " ") + std::to_string(id);
        return ids;
    }
    const std::string mask = model.mask_id < 0 ? "" : architecture.mask_token;
    const std::array<std::string, 3> causal{
        "The storm closed the harbour at noon. Anna called Tom, and when the "
        "storm closed the harbour again, Anna called",
        "The cat sat on the", "The"};
    const std::array<std::string, 3> masked{
        mask.empty() ? "The cat that the dog chased sat on the mat."
                     : "The cat that the dog chased sat on the " + mask + ".",
        mask.empty() ? "The cat" : "The " + mask, mask.empty() ? "a" : mask};
    for (const std::string& prompt : model.masked() ? masked : causal)
        if (static_cast<std::int64_t>(model.tokenizer->encode(prompt).ids.size()) <= most)
            return prompt;
    return causal.back();
}

std::string label_of(const TextModel& model, std::int64_t id) {
    return model.tokenizer == nullptr
               ? "#" + std::to_string(id)
               : text::token_label(*model.tokenizer, static_cast<text::TokenId>(id), text::BlankMark::dot);
}

} // namespace headscope::checkpoint
