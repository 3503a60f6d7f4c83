#include "app/cli/model_options.h"
#include "app/cli/project_arguments.h"
#include "app/cli/subcommands.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/gguf/gguf_tokenizer.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace headscope::cli {

namespace {

struct TokenizeOptions {
    std::string tokenizer;
    std::optional<std::string> text, pair, text_file;
    bool json = false;
};

constexpr std::uint64_t largest_file = 16 * mebibyte; ///< for all texts

/// Reads one JSON string per line; ignores an empty last line.
std::vector<std::string> read_texts(const std::string& path) {
    const std::string content = read_file(path, largest_file);
    std::vector<std::string> texts;
    for (std::size_t begin = 0; begin < content.size();) {
        const std::size_t end = std::min(content.find('\n', begin), content.size());
        const std::string place = path + ", line " + std::to_string(texts.size() + 1);
        if (end - begin > text::most_text_bytes)
            fail_input(place + " has " + std::to_string(end - begin) + " bytes; a text may have " +
                       std::to_string(text::most_text_bytes) + ", so cut it into several lines");
        const nlohmann::json line = parse_json(std::string_view(content).substr(begin, end - begin), place);
        if (!line.is_string())
            fail_input(place + " is not a JSON string; write the text in quotation marks");
        texts.push_back(line.get<std::string>());
        begin = end + 1;
    }
    return texts;
}

std::string in_quotes(std::string_view text) {
    return dump_json(nlohmann::json(text));
}

std::string as_json(const text::Encoding& encoding, bool two) {
    nlohmann::ordered_json offsets = nlohmann::ordered_json::array();
    for (const text::TextSpan& span : encoding.offsets)
        offsets.push_back({span.begin, span.end});
    nlohmann::ordered_json line = {{"ids", encoding.ids}, {"tokens", encoding.tokens}, {"offsets", offsets}};
    if (two)
        line["types"] = encoding.types;
    return dump_json(line) + "\n";
}

/// Returns one line per token: id, spelling, range of characters in its text; with two texts also the type.
std::string as_text(const text::Encoding& encoding, bool two) {
    constexpr std::size_t id_width = 7;
    std::string out;
    for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
        const std::string id = std::to_string(encoding.ids[i]);
        const text::TextSpan span = encoding.offsets[i];
        out += std::string(id_width - std::min(id_width, id.size()), ' ') + id + "  " +
               in_quotes(encoding.tokens[i]) + "  " + std::to_string(span.begin) + ".." +
               std::to_string(span.end) + (two ? "  type " + std::to_string(encoding.types[i]) : "") + "\n";
    }
    return out;
}

void run_tokenize(const TokenizeOptions& options) {
    if (options.text.has_value() == options.text_file.has_value())
        throw Error(ErrorKind::usage, options.text ? "TEXT and --text-file are both given; give one of them"
                                                   : "there is no text; give TEXT or --text-file");
    const std::unique_ptr<text::Tokenizer> tokenizer = checkpoint::load_model_tokenizer(options.tokenizer);
    const std::vector<std::string> texts =
        options.text ? std::vector{*options.text} : read_texts(*options.text_file);
    std::string out;
    for (const std::string& text : texts) {
        const bool two = !options.pair.value_or("").empty();
        const text::Encoding encoding =
            two ? tokenizer->encode_pair(text, *options.pair) : tokenizer->encode(text);
        if (options.json)
            out += as_json(encoding, two);
        else
            out += (options.text ? "" : in_quotes(text) + "\n") + as_text(encoding, two);
    }
    write_file_atomically("-", out);
}

} // namespace

void add_tokenize(CLI::App& program) {
    CLI::App& command = *program.add_subcommand("tokenize", "show the tokens that a model's tokenizer makes");
    const auto options = std::make_shared<TokenizeOptions>();
    command
        .add_option("--tokenizer,--model", options->tokenizer,
                    "a tokenizer.json, a SentencePiece model, a GGUF file, a folder with tokenizer.json, a "
                    "SentencePiece model, vocab.json and merges.txt, or vocab.txt, or pocket")
        ->transform(checkpoint::model_folder)
        ->required();
    add_base(command);
    add_project_option(command);
    command.add_option("text", options->text, "the text to cut into tokens")->option_text("TEXT");
    command.add_option("--pair", options->pair, "a second text, put after TEXT in the form for two texts")
        ->option_text("TEXT");
    command.add_option("--text-file", options->text_file,
                       "a file with one JSON string per line instead, - for standard input");
    command.add_flag("--json", options->json,
                     "print one object with ids, tokens and offsets for each text, and with --pair types");
    command.callback([options] { run_tokenize(*options); });
}

} // namespace headscope::cli
