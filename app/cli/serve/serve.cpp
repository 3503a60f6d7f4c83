#include "app/cli/cli.h"
#include "app/cli/model_options.h"
#include "app/cli/serve/captured_output.h"
#include "app/cli/serve/kept_model.h"
#include "app/cli/serve/request_lines.h"
#include "app/cli/serve/scene_request.h"
#include "app/cli/subcommands.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/json.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/figure/figure.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>

namespace headscope::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int protocol = 1; ///< rises when a client of the previous one would misread an answer

/// Commands that compute with a model and change nothing of the process.
const std::vector<std::string>& served_commands() {
    static const std::vector<std::string> names{"trace", "heads",    "explain", "patch",
                                                "edit",  "generate", "export"};
    return names;
}

/// Options that apply to the whole process, or name another model.
bool is_of_process(const std::string& word) {
    static const std::vector<std::string> names{"--model", "--memory", "--base", "--heads",
                                                "--ignore-unknown"};
    return std::ranges::find(names, word.substr(0, word.find('='))) != names.end();
}

Json greeting(const checkpoint::TextModel& model) {
    const checkpoint::ModelConfig& a = model.model->config();
    Json out{{"protocol", protocol},  {"version", HEADSCOPE_VERSION},
             {"model", model.name()}, {"family", a.family},
             {"layers", a.layers},    {"heads", a.H},
             {"vocab", a.vocab},      {"tokenizer", model.tokenizer != nullptr}};
    if (a.encoder != nullptr)
        out["encoder_layers"] = a.encoder->layers;
    return out;
}

/// The words of a request: the command and its arguments. Throws Error(input) for anything else.
std::vector<std::string> words_of(const nlohmann::json& request) {
    const auto command = request.find("command"), arguments = request.find("arguments");
    if (command == request.end() || !command->is_string() ||
        std::ranges::find(served_commands(), command->get<std::string>()) == served_commands().end())
        fail_input("a request names a \"command\": " + joined(served_commands()));
    std::vector<std::string> words{command->get<std::string>()};
    if (arguments == request.end())
        return words;
    if (!arguments->is_array() ||
        !std::ranges::all_of(*arguments, [](const nlohmann::json& one) { return one.is_string(); }))
        fail_input("\"arguments\" should be a list of texts, as on the command line");
    for (const nlohmann::json& one : *arguments) {
        words.push_back(one.get<std::string>());
        if (words.back().find('\0') != std::string::npos)
            fail_input("an argument has a character with the code 0; remove it, or pass the text in a file");
        if (is_of_process(words.back()))
            fail_input(words.back() + " applies to all requests; give it to headscope serve");
    }
    return words;
}

/// Runs the command as the command line does.
Json run_words(std::vector<std::string> words, const std::string& place) {
    words.insert(words.begin(), "headscope");
    words.insert(words.begin() + 2, "--model=" + place);
    std::vector<char*> argv;
    for (std::string& word : words)
        argv.push_back(word.data());
    const CapturedOutput captured;
    const int code = run_command_line(static_cast<int>(argv.size()), argv.data());
    std::signal(SIGINT, SIG_DFL); // a command may have set its own handler
    Json answer{{"ok", code == 0}};
    std::vector<std::string> messages = captured.messages();
    if (code != 0) {
        answer["error"] = messages.empty() ? "the command failed" : messages.back();
        answer["code"] = code;
        if (!messages.empty())
            messages.pop_back();
    }
    answer["output"] = captured.printed();
    answer["warnings"] = messages;
    return answer;
}

/// Draws a scene, for results of clients that have no fonts.
void draw(const nlohmann::json& request) {
    const auto path = request.find("path"), described = request.find("scene");
    if (path == request.end() || !path->is_string() || described == request.end())
        fail_input("draw needs a \"scene\" and the \"path\" of a .png, .svg or .pdf file");
    const auto name = path->get<std::string>();
    const figure::FigureFormat format = figure::figure_format(name);
    write_file_atomically(name,
                          figure::draw_figure(read_scene(*described), format, 1, figure::rgb(0xFFFFFF)));
}

Json answer_to(const std::string& line, const std::string& place) {
    Json answer{{"id", nullptr}};
    try {
        if (line.size() > RequestLines::longest_line)
            fail_input("a line has more than " + std::to_string(RequestLines::longest_line) +
                       " bytes; pass long inputs in a file");
        const nlohmann::json request = parse_json_with_bytes(line, "a request");
        if (!request.is_object())
            fail_input("a request is a JSON object, such as {\"command\": \"trace\", \"arguments\": []}");
        answer["id"] = request.value("id", nlohmann::json());
        if (request.value("command", nlohmann::json()) == "draw") {
            draw(request);
            answer.update({{"ok", true}, {"output", ""}, {"warnings", Json::array()}});
        } else {
            answer.update(run_words(words_of(request), place));
        }
    } catch (const std::exception& fault) {
        const auto* const known = dynamic_cast<const Error*>(&fault);
        answer["ok"] = false;
        answer["error"] = fault.what();
        answer["code"] = exit_code(known == nullptr ? ErrorKind::internal : known->kind());
    }
    return answer;
}

void run_serve(const std::string& place) {
    RequestLines lines;
    const checkpoint::TextModelPtr model = checkpoint::open_text_model(place);
    const KeptModel kept(place, model);
    if (!lines.write(dump_json(greeting(*model))))
        return;
    while (const std::optional<std::string> line = lines.next())
        if (!line->empty() && !lines.write(dump_json(answer_to(*line, place))))
            return;
}

} // namespace

void add_serve(CLI::App& program) {
    CLI::App& command = *program.add_subcommand(
        "serve", "keep a model open and run commands with it, as JSON lines on standard input and output");
    const auto place = std::make_shared<std::string>();
    command.add_option("--model", *place, "a checkpoint folder or GGUF file, or pocket")
        ->transform(checkpoint::model_folder)
        ->required();
    add_ignore_unknown(command);
    add_base(command);
    command.footer("A request is a line such as {\"id\": 1, \"command\": \"explain\", \"arguments\": "
                   "[\"--text\", \"The cat\", \"--what\", \"lens\"]}, with the arguments of the command "
                   "line.\nThe answer is a line with ok, output (the printed text), warnings and, if ok is "
                   "false, error and code. Commands: " +
                   joined(served_commands()) + ".");
    command.callback([place] { run_serve(*place); });
}

} // namespace headscope::cli
