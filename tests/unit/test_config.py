"""The configuration: rows against the published table, types, errors that name file and key."""

import shutil

import pytest

from aiayn.config import ModelConfig, TrainingConfig, load_project, parse_section, resolve_row
from aiayn.config.experiments import Experiment
from aiayn.config.scales import scale_names
from aiayn.config.yaml_files import parse_yaml
from tests.conftest import ROOT

# Table 3 as published: N, d_model, d_ff, h, d_k, d_v, P_drop, eps_ls, steps.
BASE = {"N": 6, "d_model": 512, "d_ff": 2048, "h": 8, "d_k": 64, "d_v": 64, "p_drop": 0.1,
        "eps_ls": 0.1, "steps": 100_000, "positions": "sinusoidal"}  # fmt: skip
PUBLISHED = {
    "base": {},
    "A1": {"h": 1, "d_k": 512, "d_v": 512},
    "A2": {"h": 4, "d_k": 128, "d_v": 128},
    "A3": {"h": 16, "d_k": 32, "d_v": 32},
    "A4": {"h": 32, "d_k": 16, "d_v": 16},
    "B1": {"d_k": 16},
    "B2": {"d_k": 32},
    "C1": {"N": 2},
    "C2": {"N": 4},
    "C3": {"N": 8},
    "C4": {"d_model": 256, "d_k": 32, "d_v": 32},
    "C5": {"d_model": 1024, "d_k": 128, "d_v": 128},
    "C6": {"d_ff": 1024},
    "C7": {"d_ff": 4096},
    "D1": {"p_drop": 0.0},
    "D2": {"p_drop": 0.2},
    "D3": {"eps_ls": 0.0},
    "D4": {"eps_ls": 0.2},
    "E": {"positions": "learned"},
    "big": {"d_model": 1024, "d_ff": 4096, "h": 16, "p_drop": 0.3, "steps": 300_000},
}


@pytest.fixture
def checkout(tmp_path):
    """A copy of config/ that a test may break."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    return tmp_path


def shape(model, training):
    return {
        **{
            key: getattr(model, key) for key in ("N", "d_model", "d_ff", "h", "p_drop", "positions")
        },
        "d_k": model.query_width,
        "d_v": model.value_width,
        "eps_ls": training.eps_ls,
        "steps": training.steps,
    }


def test_rows_at_paper_scale_are_the_published_table():
    project = load_project({"scale": "paper"})
    resolved = {run.row: project.resolve(run) for run in project.runs if run.pair == "en-de"}
    assert list(resolved) == list(PUBLISHED)
    for row, difference in PUBLISHED.items():
        assert shape(*resolved[row]) == BASE | difference, row


def test_there_are_22_trainings_and_big_en_fr_has_less_dropout():
    project = load_project({"scale": "paper"})
    assert len(project.runs) == 22
    dropout = {run.pair: project.resolve(run)[0].p_drop for run in project.runs if run.row == "big"}
    assert dropout == {"en-de": 0.3, "en-fr": 0.1}


def test_averaging_is_the_papers():
    project = load_project({"scale": "paper"})
    training = {run.row: project.resolve(run)[1] for run in project.runs if run.pair == "en-de"}
    assert (training["base"].checkpoint_every, training["base"].average) == (1500, 5)
    assert (training["big"].checkpoint_every, training["big"].average) == (600, 20)


@pytest.mark.parametrize("scale", scale_names(ROOT))
def test_every_scale_resolves_every_row(scale):
    pairs = "en-de,en-fr"
    project = load_project({"scale": scale, "pairs": pairs})
    assert project.runs
    assert project.scale.about.lower().startswith(scale[:5].lower())


def test_every_scale_keeps_the_shape_of_each_row():
    for scale in scale_names(ROOT):
        project = load_project({"scale": scale, "pairs": "en-de"})
        base, _ = project.resolve(next(run for run in project.runs if run.row == "base"))
        for run in project.runs:
            model, _ = project.resolve(run)
            if run.row == "A1":
                assert model.h == 1
            if run.row == "C1":
                assert max(1, round(base.N / 3)) == model.N
            if run.row.startswith("A"):
                assert model.h * model.query_width == base.d_model


def test_rehearsal_is_the_same_dag_with_small_models():
    paper = load_project({"scale": "paper"})
    rehearsal = load_project({"scale": "paper", "rehearsal": "true"})
    assert rehearsal.runs == paper.runs
    assert rehearsal.name == "paper-rehearsal"
    assert rehearsal.corpus == paper.corpus
    for run in paper.runs:
        assert rehearsal.resolve(run)[1].average == paper.resolve(run)[1].average
        assert rehearsal.resolve(run)[0].d_model <= 128


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ({"rows": "base,A1", "pairs": "en-de"}, {"rows": ("base", "A1"), "pairs": ("en-de",)}),
        ({"rows": ["base"], "seeds": "1,2"}, {"rows": ("base",), "seeds": (1, 2)}),
        ({"seeds": 3, "scale": "paper", "rehearsal": "true"}, {"seeds": (3,), "rehearsal": True}),
        ({"rehearsal": "false"}, {"rehearsal": False}),
        ({"alpha": "6e-1", "beam": "2"}, {"alpha": 0.6, "beam": 2}),
        ({"seeds": "0123"}, {"seeds": (123,)}),
    ],
)
def test_values_mean_the_same_as_text_and_as_values(overrides, expected):
    """Faults A17: what Snakemake's --config and DVC hand over."""
    settings = load_project(overrides).settings
    assert {key: getattr(settings, key) for key in expected} == expected


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"rehearsal": "no"}, "command line: rehearsal: expected true or false"),
        ({"rehearsal": 1}, "command line: rehearsal: expected true or false"),
        ({"rows": 12}, "command line: rows: 12 is not text"),
        ({"rows": "base.big"}, "command line: rows: no row 'base.big'"),
        ({"pairs": "en-it"}, "command line: pairs: corpus 'bible' has no 'en-it'"),
        ({"scale": "huge"}, "command line: scale: no scale 'huge'; there are: demo"),
        ({"beam": 0}, "command line: beam: expected 1 or more (got 0)"),
        ({"beam": "1_2"}, "command line: beam: expected a whole number"),
        ({"beem": 4}, "command line: beem: unknown key; known keys here: alpha"),
        ({"seeds": "one"}, "command line: seeds.0: expected a whole number"),
        ({"device": "tpu"}, "command line: device: expected 'auto', 'cpu' or 'cuda' (got 'tpu')"),
        ({"seeds": "1,2,1"}, "command line: seeds: 1 is there twice"),
        ({"pairs": "en-de,en-de"}, "command line: pairs: en-de is there twice"),
        ({"ranks": 2}, "command line: ranks: 2 is more than the micro_batches: 1 of a step"),
        ({"scale": "paper", "ranks": 16}, "command line: ranks: 16 is more than"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_the_command_line_and_the_key(overrides, message):
    """Faults A17."""
    with pytest.raises(ValueError, match=r"^command line") as caught:
        load_project(overrides)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("scales/demo.yaml", "d_model: 256", "d_modle: 256",
         "config/scales/demo.yaml: model.d_modle: unknown key"),
        ("scales/demo.yaml", "d_model: 256", "d_model: wide",
         "config/scales/demo.yaml: model.d_model: expected a whole number (got 'wide')"),
        ("scales/demo.yaml", "corpus: bible", "corpus: bibel",
         "config/scales/demo.yaml: corpus: no corpus 'bibel'"),
        ("scales/demo.yaml", "rows: [base, A1, C1, E]", "rows: [base, A9]",
         "config/scales/demo.yaml: A9: no such row in config/experiments.yaml"),
        ("scales/demo.yaml", "steps: ", "steps: 1 #",
         "config/scales/demo.yaml: training: averaging 5 checkpoints"),
        ("experiments.yaml", "change: {h: /8}", "change: {h: /3}",
         "config/experiments.yaml: A1: d_model=256 is not a multiple of h=3"),
        ("experiments.yaml", "change: {h: /8}", "change: {heads: /8}",
         "config/experiments.yaml: A1: heads: no such key of the model or of training"),
        ("experiments.yaml", "change: {h: /8}", "change: {h: /0}",
         "config/experiments.yaml: A1: h: '/0' is no ratio; ratios are such as /8, *2 or *2/3"),
        ("experiments.yaml", "change: {h: /8}", "change: {lr_factor: /2}",
         "config/experiments.yaml: A1: lr_factor: a ratio needs a whole number, and base's is 1.0"),
        ("experiments.yaml", "change: {h: /8}", 'change: {vocabulary_rows: "*2"}',
         "config/experiments.yaml: A1: vocabulary_rows: a ratio needs a whole number"),
        ("experiments.yaml", "group: A", "group: Z", "config/experiments.yaml: A1: group"),
        ("experiments.yaml", "A2:", "A1:", "config/experiments.yaml, line"),
        ("scales/demo.yaml", "d_model: 256", "d_model: {{x}}",
         "config/scales/demo.yaml, line 7: expected a key, found keys and values"),
        ("scales/demo.yaml", "d_model: 256", "d_model: {[x]: 1}",
         "config/scales/demo.yaml, line 7: expected a key, found a list"),
        ("scales/demo.yaml", "d_model: 256", "d_model: 2014-02-30",
         "config/scales/demo.yaml, line 7: '2014-02-30' is no timestamp"),
        ("scales/demo.yaml", "d_model: 256", "d_model: !!int wide",
         "config/scales/demo.yaml, line 7: 'wide' is no int"),
        ("scales/demo.yaml", "d_model: 256", "d_model: !!int [256]",
         "config/scales/demo.yaml, line 7: a list is no int"),
        ("scales/demo.yaml", "d_model: 256", "d_model: 256, <<: {N: 2}, <<: {N: 3}",
         "config/scales/demo.yaml, line 7: key '<<' is given twice"),
        ("config.yaml", "beam: 4", "beam: [", "config/config.yaml, line"),
        ("config.yaml", "beam: 4", "beam: -1", "config/config.yaml: beam: expected 1 or more"),
        ("config.yaml", "ranks: 1", "ranks: 3", "config/config.yaml: ranks: 3 is more than"),
        ("corpora.yaml", "licence: ", "license: ", "license: unknown key"),
        ("corpora.yaml", "format: verses", "format: verse",
         "its 'format' is 'verse'; expected 'verses', 'gzip'"),
        ("corpora.yaml", "format: verses", "", "its 'format' is missing"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_one_line_that_names_file_and_key(checkout, file, old, new, message):
    path = checkout / "config" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ValueError, match="config") as caught:
        load_project(root=checkout)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_base_comes_first_wherever_it_stands_in_a_file(checkout):
    """What compares rows with base takes the first one."""
    scale = checkout / "config/scales/demo.yaml"
    scale.write_text(scale.read_text().replace("[base, A1, C1, E]", "[E, A1, base]"))
    experiments = checkout / "config/experiments.yaml"
    experiments.write_text("mine:\n  group: own\n" + experiments.read_text())
    assert load_project(root=checkout).rows == ("base", "A1", "E")
    assert load_project({"rows": "mine,E,base"}, checkout).rows == ("base", "mine", "E")


def test_numbers_in_files_are_what_people_write(checkout):
    path = checkout / "config/scales/demo.yaml"
    path.write_text(path.read_text().replace("training:", "training:\n  lr_factor: 15e-1"))
    assert load_project(root=checkout).scale.training.lr_factor == 1.5


def test_snakemakes_reading_of_the_file_does_not_replace_ours(checkout):
    path = checkout / "config/config.yaml"
    path.write_text(path.read_text().replace("seeds: [1]", "seeds: [0123]"))
    as_yaml_1_1_reads_it = {"seeds": [83]}
    assert load_project(as_yaml_1_1_reads_it, checkout).settings.seeds == (123,)


def test_a_scale_can_change_a_row():
    training = {
        run.row: load_project({"scale": "mini"}).resolve(run)[1].steps
        for run in load_project({"scale": "mini"}).runs
    }
    assert len(set(training.values())) == 1  # equally many steps, big included


def test_ratios_are_of_base_not_of_each_other():
    experiment = Experiment(group="own", change={"N": "*4/3", "d_k": "/2"})
    model, training = resolve_row(
        "mine", experiment, ModelConfig(), TrainingConfig(), [{"N": "*2"}, {"steps": 9_000}]
    )
    assert (model.N, model.d_k, model.d_v, training.steps) == (12, 32, None, 9_000)


def test_a_ratio_that_is_not_whole_is_rounded_to_at_least_1():
    experiment = Experiment(group="own", change={"N": "/3", "d_ff": "*2/3", "d_k": "/4"})
    base = ModelConfig(N=1, d_model=64, d_ff=100, h=32)
    model, _ = resolve_row("mine", experiment, base, TrainingConfig(), [])
    assert (model.N, model.d_ff, model.d_k) == (1, 67, 1)


def test_sections_come_from_inline_yaml_json_or_a_file(tmp_path):
    file = tmp_path / "model.yaml"
    file.write_text("N: 3\nd_model: 64\n")
    for text in ("{N: 3, d_model: 64}", '{"N": 3, "d_model": 64}', str(file)):
        assert parse_section(ModelConfig, text, "--model").N == 3
    with pytest.raises(ValueError, match=r"^--model: n: unknown key"):
        parse_section(ModelConfig, "{n: 3}", "--model")
    with pytest.raises(ValueError, match=r"^--model: 'nowhere.yaml' is neither"):
        parse_section(ModelConfig, "nowhere.yaml", "--model")
    with pytest.raises(
        ValueError, match=r"^--model, line 1: expected a key, found keys and values"
    ):
        parse_section(ModelConfig, "{{N: 3}}", "--model")


def test_merge_keys_bring_what_is_not_said_again():
    """Also where a mapping that merges another is merged in its turn, and for keys of one letter,
    which PyYAML 6.0.4 mistakes."""
    text = """
    nested:
      second: &second {<<: &first {N: 1, h: 2}, h: 4}
    third: {<<: *second, d_ff: 8}
    both: {<<: [{N: 6}, *second], d_ff: 8}
    """
    assert parse_yaml(text, "file") == {
        "nested": {"second": {"N": 1, "h": 4}},
        "third": {"N": 1, "h": 4, "d_ff": 8},
        "both": {"N": 6, "h": 4, "d_ff": 8},
    }
    with pytest.raises(ValueError, match=r"^file, line 1: key 'h' is given twice$"):
        parse_yaml("{<<: {N: 1}, h: 1, h: 2}", "file")
    with pytest.raises(ValueError, match=r"^file, line 1: expected keys and values, found 'N'$"):
        parse_yaml("{<<: [{h: 1}, N]}", "file")


def test_the_filtered_test_set_is_scored_beside_the_full_one_when_its_archive_is_there(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    project = load_project({"scale": "paper"}, ROOT)
    runs = {(run.pair, run.row): run for run in project.runs}
    base = runs["en-de", "base"]
    assert project.scored_sets(base) == ("newstest2013", "newstest2014")
    archive = tmp_path / project.downloads / project.catalogue.archives["wmt-test-filtered"].file
    archive.parent.mkdir(parents=True)
    archive.touch()
    full_and_filtered = ("newstest2014", "newstest2014-filtered")
    assert project.scored_sets(base) == ("newstest2013", *full_and_filtered)
    assert project.scored_sets(runs["en-de", "C1"]) == ("newstest2013",)
    assert project.scored_sets(runs["en-fr", "big"]) == ("newstest2014",)
