#include "core/base/file.h"
#include "core/checkpoint/run/forward.h"
#include "tests/catch.h"
#include "tests/gui/support/files_user.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <cmath>
#include <filesystem>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

constexpr const char* prompt = "3 1 4 1 5 9 2 6";

std::string folder_of(const std::string& name) {
    return test_data("/models/") + name;
}

const ModelState& model_of(const User& user) {
    return user.program.state().model;
}

const Document& document_of(const User& user) {
    return *user.program.state().document;
}

/// Runs the whole model with these head gains, through the function that the command line calls.
checkpoint::ForwardResult forward(const std::string& folder,
                                  std::map<std::int64_t, std::vector<float>> gains) {
    checkpoint::ModelInputs inputs;
    inputs.ids = {3, 1, 4, 1, 5, 9, 2, 6};
    inputs.T = 8;
    checkpoint::ForwardOptions options{.stages = StageSet().with(TensorId::weights)};
    for (auto& [layer, of_layer] : gains)
        options.edits[layer].gains = std::move(of_layer);
    Progress progress;
    return checkpoint::run_model(checkpoint::Model::open(folder), inputs, options, nullptr, progress);
}

double largest_difference(const Tensor& a, const Tensor& b) {
    REQUIRE(a.shape() == b.shape());
    double largest = 0;
    for (std::int64_t i = 0; i < a.count(); ++i)
        largest =
            std::max(largest, std::abs(static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i])));
    return largest;
}

std::vector<double> softmax_at(const Tensor& logits, std::int64_t position) {
    const std::int64_t vocab = logits.shape().back(0);
    const float* row = logits.data() + position * vocab;
    const double largest = *std::max_element(row, row + vocab);
    std::vector<double> out;
    double sum = 0;
    for (std::int64_t id = 0; id < vocab; ++id) {
        out.push_back(std::exp(static_cast<double>(row[id]) - largest));
        sum += out.back();
    }
    for (double& p : out)
        p /= sum;
    return out;
}

/// A checkpoint folder with a vocabulary of words.
std::string with_words(TemporaryFolder& folder, const std::string& model) {
    const std::filesystem::path made = folder.file("checkpoint");
    std::filesystem::copy(folder_of(model), made);
    write_file_atomically((made / "vocab.txt").string(),
                          "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\nsat\n##s\non\nmat\n.\n");
    return made.string();
}

} // namespace

TEST_CASE("opening a checkpoint with images says that they are left out", "[model]") {
    User user;
    user.open(folder_of("llava_tiny"), prompt);
    CHECK(user.program.state().error.empty());
    CHECK(screen_shows("Only the language model of this checkpoint is computed"));
}

TEST_CASE("a checkpoint folder opens as a board of all heads with one layer's stages", "[model]") {
    User user;
    const std::string folder = folder_of("gpt2_tiny");
    user.open(folder, prompt);
    REQUIRE(document_of(user).is_checkpoint());
    CHECK(user.program.state().error.empty());
    CHECK(screen_shows("All heads"));
    CHECK(screen_shows("2 layers × 4 heads"));
    CHECK(screen_shows("q k v"));
    CHECK(screen_shows("#9"));
    CHECK(screen_shows("Next token"));
    CHECK(user.program.title() == "gpt2_tiny · Headscope");

    SECTION("every stage of every layer shows the numbers of the model's own pass") {
        const checkpoint::ForwardResult expected = forward(folder, {});
        for (const std::int64_t layer : {0, 1}) {
            user.act(OpenHead{layer, 2});
            REQUIRE(user.shown().document->layer() == layer);
            CHECK(largest_difference(*user.shown().trace->stage(TensorId::weights),
                                     *expected.layers[static_cast<std::size_t>(layer)].trace.stage(
                                         TensorId::weights)) < 1e-6);
            const Trace trace = computed(user.problem());
            int compared = 0;
            for (int group = 0; group < group_count; ++group) {
                user.act(GoTo{static_cast<StageGroup>(group)});
                INFO("layer " << layer << ", stage " << group_info(user.view().group).label);
                CHECK_FALSE(user.program.canvas().grids.empty());
                compared += check_printed_numbers(user.program.canvas(), trace, user.problem());
            }
            CHECK(compared > 100);
        }
    }
    SECTION("a click on the board opens a head, in any stage") {
        user.act(GoTo{StageGroup::scores});
        REQUIRE(user.click("open L1 H3"));
        user.settle();
        CHECK(user.shown().document->layer() == 1);
        CHECK(user.view().head == 3);
        CHECK(user.view().group == StageGroup::scores);
        CHECK(screen_shows("Scores of L1 H3"));
        CHECK(screen_shows("scores[1][3]"));
    }
    SECTION("every panel says something, and closing it brings the sentence back") {
        for (const char* tab : {"Guide", "Tensors", "Heads", "Edit", "Predict"}) {
            INFO(tab);
            REQUIRE(user.click(tab));
            user.settle();
            CHECK(user.program.state().error.empty());
        }
        CHECK_FALSE(screen_shows("Course"));
        user.act(NewProject{});
        CHECK(!document_of(user).is_checkpoint());
        CHECK(model_of(user).run == nullptr);
        CHECK(user.view().tab != LeftTab::predictions);
    }
    end_recording();
}

TEST_CASE("ablating a head changes the predictions as the command line computes them", "[model]") {
    const std::string name = GENERATE("gpt2_tiny", "llama_tiny_untied", "bert_tiny");
    INFO(name);
    User user;
    const std::string folder = folder_of(name);
    user.open(folder, prompt);
    const std::int64_t H = user.problem().dims.H;
    const std::string before = signature(user.program);
    const checkpoint::ModelRunPtr unedited = model_of(user).run;
    REQUIRE(model_of(user).predictions);
    CHECK(model_of(user).predictions->moved.empty());
    CHECK(largest_difference(*unedited->logits(), *forward(folder, {}).logits) < 1e-5);

    REQUIRE(user.click("Ablate L0 H0"));
    user.settle();
    std::vector<float> gains(static_cast<std::size_t>(H), 1.0F);
    gains[0] = 0;
    const checkpoint::ForwardResult expected = forward(folder, {{0, gains}});
    CHECK(largest_difference(*model_of(user).run->logits(), *expected.logits) < 1e-5);
    CHECK(model_of(user).unedited == unedited);
    CHECK(model_of(user).recomputed == "Layers 0 to 1 were recomputed.");

    REQUIRE(model_of(user).predictions);
    const Predictions& now = *model_of(user).predictions;
    const auto p = softmax_at(*unedited->logits(), now.position),
               q = softmax_at(*expected.logits, now.position);
    double kl = 0;
    for (std::size_t id = 0; id < p.size(); ++id)
        kl += p[id] * std::log(p[id] / q[id]);
    CHECK(now.kl > 0);
    CHECK(std::abs(now.kl - kl) < 1e-5);
    REQUIRE_FALSE(now.moved.empty());
    for (const TokenProbability& odds : now.likeliest) {
        const auto id = static_cast<std::size_t>(odds.id);
        CHECK(std::abs(static_cast<double>(odds.before) - p[id]) < 1e-5);
        CHECK(std::abs(static_cast<double>(odds.after) - q[id]) < 1e-5);
    }
    CHECK(screen_shows("KL(before ‖ after)"));

    SECTION("later layers follow") {
        user.act(OpenHead{1, 0});
        CHECK(largest_difference(*user.shown().trace->stage(TensorId::weights),
                                 *expected.layers[1].trace.stage(TensorId::weights)) < 1e-6);
    }
    SECTION("undo brings back every number and what is on screen, on the layer it was done in") {
        user.act(OpenHead{1, 0});
        user.act(MoveInHistory{-1});
        CHECK(user.shown().document->layer() == 0);
        CHECK(largest_difference(*model_of(user).run->logits(), *unedited->logits()) == 0);
        CHECK(signature(user.program) == before);
        user.act(MoveInHistory{1});
        CHECK(user.problem().gain(0) == 0.0F);
        CHECK(largest_difference(*model_of(user).run->logits(), *expected.logits) < 1e-5);
    }
    end_recording();
}

TEST_CASE("an edit while another layer is on its way changes neither layer, and says so", "[model]") {
    User user;
    user.open(folder_of("gpt2_tiny"), prompt);
    user.program.act(OpenHead{1, 2});
    user.program.act(SetGain{2, 0});
    CHECK(document_of(user).part()->edits.empty());
    CHECK_THAT(user.program.state().notice, Catch::Contains("Layer 1 is still loading"));
    user.settle();
    CHECK(document_of(user).layer() == 1);
    user.act(SetGain{2, 0});
    CHECK(document_of(user).part()->edits.count(0) == 0);
    REQUIRE(document_of(user).part()->edits.count(1) == 1);
    CHECK(document_of(user).part()->edits.at(1).gains.at(2) == 0.0F);
    end_recording();
}

TEST_CASE("an edit flashes in its own layer, not in one that is opened before the next frame", "[model]") {
    User user;
    user.open(folder_of("gpt2_tiny"), prompt);
    user.program.act(SetGain{1, 0});
    user.program.settle();
    user.program.act(OpenHead{1, 0});
    user.program.settle();
    user.driver.wait(2);
    CHECK(user.shown().document->layer() == 1);
    CHECK(user.program.state().flash.strength == 0);
    end_recording();
}

TEST_CASE("a weight of a later layer is edited, and only layers from there on are computed", "[model]") {
    User user;
    user.open(folder_of("qwen2_tiny_bf16"), prompt);
    user.act(OpenHead{1, 2});
    const checkpoint::ModelRunPtr before = model_of(user).run;
    const CellAddress cell{TensorId::W_V, {3, 1, 0, 0}};
    user.act(EditCell{cell, 2.5F});
    CHECK(user.shown().value(cell) == 2.5F);
    CHECK(model_of(user).run->computed_from() == 1);
    CHECK(model_of(user).run->hidden(1) == before->hidden(1));
    CHECK(largest_difference(*model_of(user).run->logits(), *before->logits()) > 0);
    CHECK(model_of(user).recomputed == "Layer 1 was recomputed, layer 0 reused.");
    CHECK(user.program.state().history.back().label.starts_with("L1 edit W_V"));

    SECTION("what belongs to the model is refused with a sentence") {
        const DocumentPtr document = user.program.state().document;
        const std::pair<Command, const char*> refused[] = {
            {EditCell{{TensorId::x, {0, 1, 1, 0}}, 1}, "x of layer 1 is"},
            {SetHeads{1}, "the number of heads"},
            {SetTemperature{2}, "the scale"},
            {SetMask{project::MaskChoice::none}, "the mask"},
            {PaintMask{0, 0, 0, 0, false}, "the mask"}};
        for (const auto& [command, part] : refused) {
            user.program.act(command);
            CHECK(user.program.state().document == document);
            CHECK_THAT(user.program.state().error, Catch::Contains(part));
        }
    }
    SECTION("dropping all edits drops those of other layers too") {
        user.act(OpenHead{0, 0});
        user.act(SetGain{1, 0.5F});
        CHECK(document_of(user).part()->edits.size() == 2);
        user.act(ResetEdits{});
        CHECK(document_of(user).part()->edits.empty());
        CHECK(largest_difference(*model_of(user).run->logits(), *before->logits()) == 0);
    }
    end_recording();
}

TEST_CASE("the prompt is typed, and one that cannot be used says why and leaves the last", "[model]") {
    User user;
    user.open(folder_of("gpt2_tiny"), prompt);
    REQUIRE(user.driver.click_item("##prompt"));
    user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    user.driver.type("7 8 9");
    user.settle();
    CHECK(user.problem().dims.Tq == 3);
    CHECK(model_of(user).run->inputs().ids == std::vector<std::int64_t>{7, 8, 9});
    CHECK(document_of(user).recipe.sentence == "7 8 9");
    CHECK(model_of(user).error.empty());

    user.driver.type(" cat");
    user.settle();
    CHECK(model_of(user).error.find("\"cat\" is not a token id") != std::string::npos);
    CHECK(user.problem().dims.Tq == 3);
    CHECK(screen_shows("is not a token id"));
    user.driver.key(GLFW_KEY_ENTER); // leaves the field
    user.settle();
    user.act(TypePrompt{"7 4000"});
    CHECK(model_of(user).error.find("199") != std::string::npos);
    user.press_key(GLFW_KEY_PAGE_DOWN); // another layer is read; the text in the field is as wrong as before
    user.press_key(GLFW_KEY_END);
    CHECK(model_of(user).error.find("199") != std::string::npos);
    CHECK(model_of(user).prompt == "7 4000");

    user.act(MoveInHistory{-1});
    CHECK(user.problem().dims.Tq == 8);
    CHECK(model_of(user).prompt == prompt);
    CHECK(model_of(user).error.empty());
    end_recording();
}

TEST_CASE("a hidden word is what a masked model is asked about", "[model]") {
    TemporaryFolder folder;
    User user;
    user.open(with_words(folder, "bert_tiny"), "the cats [MASK] on the mat.");
    REQUIRE(document_of(user).is_checkpoint());
    const auto& tokens = user.problem().tokens;
    CHECK(tokens ==
          std::vector<std::string>{"[CLS]", "the", "cat", "##s", "[MASK]", "on", "the", "mat", ".", "[SEP]"});
    REQUIRE(model_of(user).predictions);
    CHECK(model_of(user).predictions->position == 4);
    CHECK(screen_shows("The model's guesses"));
    REQUIRE(user.click("token 2"));
    user.settle();
    CHECK(model_of(user).predictions->position == 2);
    CHECK(model_of(user).predictions->token == "cat");
    end_recording();
}

TEST_CASE("the rotation by position is a page, and its arithmetic is told", "[model]") {
    User user;
    user.open(folder_of("llama_tiny_untied"), prompt);
    user.act(GoTo{StageGroup::split});
    REQUIRE(user.click("Rotation"));
    user.settle();
    CHECK(screen_shows("Rotation: L0 H0"));
    check_printed_numbers(user.program.canvas(), computed(user.problem()), user.problem());
    user.act(Select{CellAddress{TensorId::q_heads, {0, 0, 5, 1}}});
    CHECK(screen_shows("Rotated by position"));
    CHECK(screen_shows("angle"));
    end_recording();
}

TEST_CASE("what is no checkpoint leaves what is on screen and says why", "[model]") {
    TemporaryFolder folder;
    User user;
    const DocumentPtr before = user.program.state().document;
    const std::filesystem::path made = folder.file("broken");
    std::filesystem::create_directory(made);
    const auto error = [&] {
        user.program.state().error.clear();
        user.program.open_path(made.string());
        user.settle();
        CHECK(user.program.state().document == before);
        return user.program.state().error;
    };
    CHECK(error().find("an empty folder") != std::string::npos);
    write_file_atomically((made / "config.json").string(), R"({"model_type": "whisper"})");
    write_file_atomically((made / "pytorch_model.bin").string(), "pickle");
    CHECK(error().find("neither as a ZIP archive nor as a pickle") != std::string::npos);
    std::filesystem::copy(folder_of("gpt2_tiny") + "/model.safetensors", made / "model.safetensors");
    CHECK(error().find("whisper") != std::string::npos);
}

TEST_CASE("edits are saved as a patch, asked about, and laid over the checkpoint again", "[model]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.open(folder_of("gpt2_tiny"), prompt);
    CHECK_FALSE(user.files().unsaved);
    user.act(SetGain{2, 0.25F});
    user.act(OpenHead{1, 0});
    user.edit(3.0F);
    CHECK(user.files().unsaved);
    const std::string path = folder.file("mine.patch.safetensors");
    user.save_as(path);
    CHECK(user.program.state().error.empty());
    REQUIRE(std::filesystem::exists(path));
    CHECK_FALSE(user.files().unsaved);

    user.act(ResetEdits{});
    CHECK(user.files().unsaved);
    user.act(MoveInHistory{-1});
    CHECK_FALSE(user.files().unsaved);
    user.act(MoveInHistory{1});

    user.program.open_path(path);
    user.driver.wait(2);
    REQUIRE(user.files().question);
    CHECK(screen_shows("Save the changes to mine.patch.safetensors?"));
    user.act(AnswerUnsaved{UnsavedAnswer::discard});
    user.settle();
    CHECK(user.program.state().error.empty());
    user.act(OpenHead{1, 0});
    CHECK(user.edited() == 3.0F);
    CHECK(document_of(user).part()->edits.at(0).gains[2] == 0.25F);
    CHECK_FALSE(user.files().unsaved);
    user.act(MoveInHistory{-1});
    CHECK(document_of(user).part()->edits.empty());

    SECTION("a patch of another checkpoint opens that one") {
        user.act(OpenPath{folder_of("bert_tiny")});
        user.act(AnswerUnsaved{UnsavedAnswer::discard});
        REQUIRE(document_of(user).title == "bert_tiny");
        user.program.open_path(path);
        user.settle();
        CHECK(user.program.state().error.empty());
        CHECK(document_of(user).title == "gpt2_tiny");
        CHECK(document_of(user).part()->edits.at(0).gains[2] == 0.25F);
        CHECK_FALSE(user.files().unsaved);
    }
    SECTION("without a checkpoint a patch brings its own") {
        user.act(NewProject{});
        user.act(AnswerUnsaved{UnsavedAnswer::discard});
        user.program.open_path(path);
        user.settle();
        CHECK(document_of(user).title == "gpt2_tiny");
        user.act(OpenHead{1, 0});
        CHECK(user.edited() == 3.0F);
    }
    SECTION("of a checkpoint that is not known the program asks where it is") {
        user.act(NewProject{});
        user.act(AnswerUnsaved{UnsavedAnswer::discard});
        user.act(ForgetRecent{});
        user.program.open_path(path);
        user.settle();
        REQUIRE(user.files().chooser);
        CHECK_THAT(user.files().chooser->chooser.error(), Catch::Contains("mine.patch.safetensors") &&
                                                              Catch::Contains("gpt2_tiny") &&
                                                              Catch::Contains("Choose the folder"));
        user.act(ChosenPath{folder_of("bert_tiny")});
        user.settle();
        REQUIRE(user.files().chooser);
        CHECK_THAT(user.files().chooser->chooser.error(), Catch::Contains("bert_tiny is a different one"));
        user.act(ChosenPath{folder_of("gpt2_tiny")});
        user.settle();
        CHECK_FALSE(user.files().chooser);
        CHECK(document_of(user).part()->edits.at(0).gains[2] == 0.25F);
    }
    end_recording();
}

TEST_CASE("an opening that is cancelled leaves what is on screen, with a sentence", "[model]") {
    User user;
    const bool with_model = GENERATE(false, true);
    if (with_model)
        user.open(folder_of("bert_tiny"), "3 4 5");
    begin_recording();
    const DocumentPtr before = user.program.state().document;
    user.program.open_path(folder_of("gpt2_tiny"), {prompt});
    user.program.act(CancelJob{});
    user.settle();
    CHECK(user.program.state().document == before);
    CHECK(user.program.state().error.empty());
    CHECK(screen_shows("Opening gpt2_tiny was cancelled"));
    user.program.open_path(folder_of("gpt2_tiny"), {prompt});
    user.settle();
    CHECK(document_of(user).title == "gpt2_tiny");
    end_recording();
}
