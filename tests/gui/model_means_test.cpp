#include "app/cli/cli.h"
#include "core/analysis/read_set.h"
#include "core/base/file.h"
#include "core/checkpoint/model/patch_file.h"
#include "core/checkpoint/run/spelled_run.h"
#include "core/format/attention_file.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

constexpr const char* ids = "3 1 4 1 5 9 2 6";

void open(User& user, const std::string& folder, const std::string& text) {
    begin_recording();
    user.program.open_path(folder, {text});
    user.settle();
    user.settle();
    REQUIRE(user.program.state().document->is_checkpoint());
}

void read(User& user, const analysis::ReadingOptions& how) {
    user.act(SetReadingOptions{how});
    user.settle();
}

/// Returns the file that `headscope trace --model` writes.
std::string traced(const TemporaryFolder& folder, std::vector<std::string> arguments) {
    static int files = 0;
    const std::string path = folder.file("trace" + std::to_string(++files) + ".safetensors");
    std::vector<std::string> words{"headscope", "trace", "--model"};
    std::ranges::move(arguments, std::back_inserter(words));
    for (const char* word : {"--device", "cpu", "-o"})
        words.emplace_back(word);
    words.push_back(path);
    std::vector<char*> argv;
    for (std::string& word : words)
        argv.push_back(word.data());
    REQUIRE(cli::run_command_line(static_cast<int>(argv.size()), argv.data()) == 0);
    return path;
}

/// Every head and mean that is on screen one after the other is what the file gives, opened and read alike.
void check_as_file(User& user, const std::string& path, const analysis::ReadingOptions& how) {
    const AttentionSetPtr file = analysis::with_reading(format::open_attention_file(path), how);
    const AttentionInfo& info = file->info();
    const AttentionInfo& head_grid = user.program.state().head_grid->info();
    REQUIRE(head_grid.L == info.L);
    REQUIRE(head_grid.H == info.H);
    REQUIRE(head_grid.own_layers() == info.own_layers());
    REQUIRE(head_grid.own_heads() == info.own_heads());
    std::vector<float> expected(static_cast<std::size_t>(info.Tq * info.Tk));
    for (std::int64_t l = 0; l < info.L; ++l)
        for (std::int64_t h = 0; h < info.H; ++h) {
            INFO("layer " << l << ", head " << h);
            user.act(OpenHead{l, h});
            user.settle();
            CHECK(user.view().attention.layer == l);
            CHECK(user.view().head == h);
            CHECK(user.program.state().error.empty());
            REQUIRE(user.shown().dims().H > h);
            REQUIRE(user.shown().dims().Tq == info.Tq);
            file->read_head(l, h, expected);
            double off = 0;
            for (std::int64_t i = 0; i < info.Tq; ++i)
                for (std::int64_t j = 0; j < info.Tk; ++j)
                    off = std::max(off, std::abs(static_cast<double>(
                                            user.shown().value({TensorId::weights, {0, h, i, j}}) -
                                            expected[static_cast<std::size_t>(i * info.Tk + j)])));
            CHECK(off < 1e-6);
            const auto row = user.program.state().head_grid->row(l);
            REQUIRE(row != nullptr);
            const analysis::HeadFacts facts =
                analysis::head_facts(expected, info.Tq, info.Tk, info.sum_tolerance);
            CHECK(static_cast<double>(
                      row->heads[static_cast<std::size_t>(h)].facts.metrics[analysis::HeadScore::largest]) ==
                  Approx(static_cast<double>(facts.metrics[analysis::HeadScore::largest])).margin(1e-5));
        }
}

/// A checkpoint with a real tokenizer, whose vocabulary is larger than that of the small models: the rows of
/// their embeddings and heads are repeated.
std::string with_tokenizer(const TemporaryFolder& folder, const std::string& model,
                           const std::string& tokenizer) {
    constexpr std::int64_t vocab = 600;
    const std::filesystem::path made = folder.file(model), from = test_data("/models/" + model);
    std::filesystem::create_directory(made);
    for (const auto& entry : std::filesystem::directory_iterator(test_data("/tokenizers/" + tokenizer)))
        if (entry.path().filename() != "cases.json")
            std::filesystem::copy(entry.path(), made / entry.path().filename());
    nlohmann::json config = nlohmann::json::parse(read_file((from / "config.json").string()));
    const auto before = config["vocab_size"].get<std::int64_t>();
    config["vocab_size"] = vocab;
    write_file_atomically((made / "config.json").string(), config.dump());
    const format::Safetensors tensors = format::Safetensors::open((from / "model.safetensors").string());
    format::SafetensorsWriter writer;
    for (const format::SafetensorsEntry& entry : tensors.entries()) {
        TensorPtr tensor = tensors.tensor(entry.name);
        if (entry.extents.front() == before) {
            const std::int64_t width = tensor->count() / before;
            auto longer =
                std::make_shared<Tensor>(entry.extents.size() == 1 ? Shape{vocab} : Shape{vocab, width});
            for (std::int64_t i = 0; i < longer->count(); ++i)
                longer->data()[i] = tensor->data()[i % tensor->count()];
            tensor = longer;
        }
        writer.add(entry.name, tensor);
    }
    write_file_atomically((made / "model.safetensors").string(), writer.bytes());
    return made.string();
}

} // namespace

TEST_CASE("means of a checkpoint are those of the file that trace writes of it", "[model]") {
    const TemporaryFolder folder;
    User user;
    const std::string model = test_data("/models/gpt2_tiny");
    open(user, model, ids);
    const analysis::ReadingOptions means{.means = true};
    REQUIRE(user.click("Heads"));
    user.settle();
    REQUIRE(user.click("Means in the grid"));
    user.settle();
    user.settle();
    const std::vector<std::string> call{model, "--ids", "3,1,4,1,5,9,2,6"};
    check_as_file(user, traced(folder, call), means);

    SECTION("with the first token hidden too") {
        const analysis::ReadingOptions both{.hide_first_token = true, .means = true};
        read(user, both);
        check_as_file(user, traced(folder, call), both);
    }
    SECTION("and follow a head that is ablated, a weight that is edited, another prompt, and undo") {
        user.act(OpenHead{0, 4}); // stays open meanwhile
        user.act(SetGain{1, 0});
        CHECK(user.view().head == 4);
        CHECK(user.shown().problem().gain(4) == 1.0F);
        std::vector<std::string> ablated = call;
        for (const char* word : {"--gain", "0.1=0"})
            ablated.emplace_back(word);
        check_as_file(user, traced(folder, ablated), means);
        user.act(OpenHead{0, 2});
        user.act(EditCell{{TensorId::W_Q, {3, 17, 0, 0}}, 4.0F});
        const RunSpec& part = *user.program.state().document->part();
        const std::string patch = folder.file("edits.patch.safetensors");
        checkpoint::save_patch(*part.model->model, part.edits, patch);
        std::vector<std::string> edited = call;
        edited.emplace_back("--patch");
        edited.push_back(patch);
        check_as_file(user, traced(folder, edited), means);
        user.act(TypePrompt{"7 8 9"});
        check_as_file(user, traced(folder, {model, "--ids", "7,8,9", "--patch", patch}), means);
        for (int step = 0; step < 3; ++step)
            user.act(MoveInHistory{-1});
        check_as_file(user, traced(folder, call), means);
    }
    end_recording();
}

TEST_CASE("rollout, flow and norm-weighted weights are read from a checkpoint by key", "[model]") {
    User user;
    open(user, test_data("/models/gpt2_tiny"), ids);
    const std::int64_t H = user.problem().dims.H, L = user.program.state().model.run->info().L;
    user.driver.key(GLFW_KEY_R, GLFW_MOD_SHIFT);
    user.settle();
    CHECK(user.view().attention.reading == analysis::ReadingOptions{.rollout = true});
    const std::string last = "L" + std::to_string(L - 1);
    REQUIRE(user.click("open " + last + " rollout"));
    user.settle();
    CHECK(user.view().head == H);
    CHECK(screen_shows("the only stage of a rollout"));
    const std::int64_t row = user.problem().dims.Tq - 1;
    float sum = 0;
    for (std::int64_t j = 0; j <= row; ++j)
        sum += user.shown().value({TensorId::weights, {0, H, row, j}});
    CHECK(sum == Approx(1));
    // More of the row's own input is left than any one head of the layers says.
    CHECK(user.shown().value({TensorId::weights, {0, H, row, row}}) > 0.1F);

    user.driver.key(GLFW_KEY_F, GLFW_MOD_SHIFT);
    user.settle();
    CHECK(user.view().attention.reading == analysis::ReadingOptions{.flow = true});
    CHECK(screen_shows(last + " flow"));
    user.driver.key(GLFW_KEY_F, GLFW_MOD_SHIFT);
    user.settle();
    CHECK(user.view().attention.reading == analysis::ReadingOptions{});

    user.act(OpenHead{1, 0});
    const float plain = user.shown().value({TensorId::weights, {0, 0, row, 1}});
    user.driver.key(GLFW_KEY_N, GLFW_MOD_SHIFT);
    user.settle();
    CHECK(screen_shows("Weighted by the norm of what each key adds, rows renormalized"));
    CHECK(user.shown().value({TensorId::weights, {0, 0, row, 1}}) != plain);
    end_recording();
}

TEST_CASE("a mean of a checkpoint has weights alone, and its heads keep every stage", "[model]") {
    User user;
    open(user, test_data("/models/llama_tiny_untied"), ids);
    user.act(GoTo{StageGroup::scores});
    read(user, {.means = true});
    const std::int64_t H = user.problem().dims.H, L = user.program.state().model.run->info().L;
    CHECK(!user.shown().document->shows_weights());
    CHECK(user.view().group == StageGroup::scores);
    REQUIRE(user.click("open L1 mean"));
    user.settle();
    CHECK(user.view().group == StageGroup::weights);
    CHECK(user.view().head == H);
    CHECK(screen_shows("L1 mean"));
    CHECK(screen_shows("the only stage of a mean"));
    CHECK_FALSE(screen_shows("q k v"));
    CHECK(user.program.report(1).find("\"settled\":true") != std::string::npos);

    SECTION("in every view and panel") {
        for (const int key : {GLFW_KEY_A, GLFW_KEY_T, GLFW_KEY_G, GLFW_KEY_D, GLFW_KEY_M, GLFW_KEY_W,
                              GLFW_KEY_E, GLFW_KEY_9, GLFW_KEY_X, GLFW_KEY_DOWN, GLFW_KEY_SPACE}) {
            INFO(key);
            user.driver.key(key);
            user.settle();
            CHECK(user.program.state().error.empty());
            CHECK(user.view().group == StageGroup::weights);
        }
        CHECK(screen_shows("Mean of all"));
        for (const auto& [tab, says] : {std::pair{"Guide", "A mean is not a stage"},
                                        {"Tensors", "W_Q"},
                                        {"Edit", "This is computed from several"},
                                        {"Predict", "Only single heads can be"}}) {
            INFO(tab);
            REQUIRE(user.click(tab));
            user.settle();
            CHECK(screen_shows(says));
            CHECK_FALSE(screen_shows("Ablate"));
        }
        CHECK(user.program.state().document->part()->edits.empty());
    }
    SECTION("a stage that is asked for is that of the head beside it") {
        REQUIRE(user.click("Tensors"));
        user.settle();
        REQUIRE(user.click("W_O"));
        user.settle();
        CHECK(user.view().group == StageGroup::output);
        CHECK(user.view().head == H - 1);
        CHECK(user.view().attention.layer == 1);
        CHECK(user.shown().document == user.program.state().document);
        CHECK(screen_shows("q k v"));
    }
    SECTION("the mean over layers leaves the open layer where it is") {
        user.act(OpenHead{L, 2});
        CHECK(screen_shows("H2 mean"));
        CHECK(user.program.state().document->layer() == 1);
        user.act(SetGain{2, 0});
        CHECK(user.view().attention.layer == L); // the effect on the mean is shown
        user.act(MoveInHistory{-1});
        CHECK(user.view().attention.layer == 1); // where the edit was
        read(user, {});
        CHECK(user.view().head == 2);
        CHECK(!user.shown().document->shows_weights());
    }
    SECTION("without means the nearest head is open") {
        user.act(OpenHead{L, H});
        CHECK(screen_shows("Mean of all"));
        read(user, {});
        CHECK(user.view().head == H - 1);
        CHECK(user.view().attention.layer == L - 1);
        CHECK(user.shown().document == user.program.state().document);
        CHECK(user.shown().document->layer() == L - 1);
        CHECK(screen_shows("q k v"));
    }
    end_recording();
}

TEST_CASE("readings of real vocabularies are those of the file that trace writes", "[model]") {
    const TemporaryFolder folder;
    const auto [model, tokenizer] =
        GENERATE(table<std::string, std::string>({{"gpt2_tiny", "gpt2_like"},
                                                  {"llama_tiny_untied", "llama2_like"},
                                                  {"bert_tiny", "bert_like_uncased"}}));
    INFO(model);
    const std::string text = "Anna called the harbour, unbelievable storms";
    User user;
    const std::string made = with_tokenizer(folder, model, tokenizer);
    open(user, made, text);
    for (const analysis::ReadingOptions& how :
         {analysis::ReadingOptions{.merge_words = true, .means = true},
          analysis::ReadingOptions{
              .hide_first_token = true, .hide_special_tokens = true, .merge_words = true}}) {
        const analysis::ReadingOptions& possible = user.view().attention.possible;
        CHECK(possible.merge_words);
        read(user, how);
        CHECK(user.program.state().error.empty());
        check_as_file(user, traced(folder, {made, "--text", text}), how);
        if (how.hide_special_tokens) {
            const std::vector<std::string> whole =
                tokenizer == "bert_like_uncased"
                    ? std::vector<std::string>{"anna", "called",       "the",   "harbour",
                                               ",",    "unbelievable", "storms"}
                    : std::vector<std::string>{"Anna", "called",       "the",   "harbour",
                                               ",",    "unbelievable", "storms"};
            CHECK(user.shown().problem().tokens == whole);
        }
        for (const std::string& token : user.shown().problem().tokens)
            for (const char* mark : {"Ġ", "▁", "##"})
                CHECK(token.find(mark) == std::string::npos);
    }
    end_recording();
}
