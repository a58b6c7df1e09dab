"""What steps ask a cluster for."""

import dataclasses
import math
import os

import pytest

from aiayn.analysis.attention_maps import chosen_sentences
from aiayn.batches.buckets import VALIDATION_TOKENS
from aiayn.common.errors import UserError
from aiayn.config import Run, inference, load_project, resources
from aiayn.config.catalogue import Archive
from aiayn.config.devices import load_devices
from aiayn.training.interruption import SECONDS_BEFORE_END
from tests.conftest import ROOT

BASE = Run("en-de", "base", 1)


def request(run=BASE, gpu_type="", nodes=1, limit=None, **overrides):
    project = load_project({"scale": "paper", "ranks": 8, **overrides})
    cluster = resources.Cluster(gpu_type=gpu_type, training_nodes=nodes, runtime_limit=limit)
    return resources.training(project, run, load_devices(ROOT), cluster)


def test_base_on_the_papers_gpus_is_estimated_at_the_papers_time():
    """12 hours on 8 P100 (Section 5.2), times the margin that is asked for."""
    hours = request(gpu_type="tesla_p100-pcie").runtime_min / 60 / resources.SAFETY
    assert hours == pytest.approx(12, rel=0.1)


def test_more_and_faster_gpus_shorten_the_request():
    on_eight, on_four = request(gpu_type="a100"), request(gpu_type="a100", ranks=4)
    assert 1.8 * on_eight.runtime_min < on_four.runtime_min < 2 * on_eight.runtime_min
    assert request(gpu_type="v100").runtime_min > on_eight.runtime_min
    assert (on_eight.gpus, on_four.gpus) == (8, 4)


def test_gpus_of_an_unknown_name_are_taken_for_the_slowest():
    assert request(gpu_type="k9") == request(gpu_type="") == request(gpu_type="p100")


def test_a_training_longer_than_the_limit_is_several_jobs_and_as_many_retries():
    whole, cut = request(gpu_type="p100"), request(gpu_type="p100", limit=240)
    assert cut.runtime_min == 240
    assert cut.jobs == math.ceil(whole.runtime_min / 240)
    assert resources.training_retries([whole, cut]) == resources.FAILURES + cut.jobs - 1


def test_nodes_share_the_ranks_evenly_or_not_at_all():
    shared = request(nodes=2)
    assert (shared.gpus, shared.cpus_per_task) == (4, request().cpus_per_task // 2)
    assert shared.runtime_min == request().runtime_min
    with pytest.raises(UserError, match="ranks=8 cannot be shared evenly among training_nodes=3"):
        request(nodes=3)


def test_on_cpus_no_gpu_is_asked_for_and_the_time_is_longer():
    on_cpus = request(device="cpu")
    assert on_cpus.gpus == 0
    assert on_cpus.cpus_per_task == 8
    assert on_cpus.runtime_min > request().runtime_min


@pytest.mark.parametrize(
    ("scale", "measured_mb"), [("smoke", 961), ("demo", 2118), ("multi30k", 2454)]
)
def test_memory_on_a_cpu_covers_what_was_measured_without_waste(scale, measured_mb):
    """The measured peaks are max_rss of results/<scale>/benchmarks/train on an AMD EPYC."""
    asked = request(scale=scale, device="cpu", ranks=1).mem_mb
    assert 1.3 * measured_mb < asked < 3 * measured_mb


def test_steps_other_than_training_ask_for_more_on_larger_corpora():
    small, large = load_project({"scale": "smoke"}), load_project({"scale": "paper"})
    assert resources.is_small(small)
    assert not resources.is_small(large)
    anywhere = resources.Cluster()
    few, many, most = (
        resources.light(project, pair, anywhere)
        for project, pair in ((small, "en-de"), (large, "en-de"), (large, "en-fr"))
    )
    assert few.mem_mb < many.mem_mb < most.mem_mb
    assert few.runtime_min < many.runtime_min < most.runtime_min


def project_of(archives=None, **train):
    """The project of a scale whose corpus has training text of this content."""
    project = load_project()
    pair = project.corpus_pair("en-de")
    content = pair.model_validate(
        pair.model_dump() | {"contents": pair.model_dump()["contents"] | {"verses": train}}
    )
    corpus = project.corpus.model_copy(update={"pairs": {"en-de": content}})
    update = {
        "corpora": {"bible": corpus},
        "archives": project.catalogue.archives | (archives or {}),
    }
    settings = project.settings.model_copy(update={"pairs": ("en-de",)})
    catalogue = project.catalogue.model_copy(update=update)
    return dataclasses.replace(project, settings=settings, catalogue=catalogue)


def test_own_text_counts_as_if_it_were_packed(tmp_path):
    files = {"source": tmp_path / "t.en", "target": tmp_path / "t.de.gz"}
    project = project_of(format="files", **{side: str(file) for side, file in files.items()})
    assert resources.corpus_bytes(project, "en-de") == 0  # absent ones are Snakemake's to tell
    for file in files.values():
        with file.open("wb") as stream:
            stream.truncate(300_000_000)
    assert resources.corpus_bytes(project, "en-de") == 100_000_000 + 300_000_000
    assert resources.is_small(project)
    os.truncate(files["source"], 900_000_000)
    assert not resources.is_small(project)
    assert resources.light(project, "en-de", resources.Cluster()).mem_mb == 1_000 + 4 * 600


def test_an_archive_of_unknown_size_is_large_until_it_is_there(tmp_path, monkeypatch):
    archive = Archive(file="a.tgz", host="statmt", path="a.tgz", version="1", licence="-")
    names = {"archive": "a", "source": "x.en", "target": "x.de"}
    project = project_of({"a": archive}, format="tar", **names)
    monkeypatch.chdir(tmp_path)
    assert not resources.is_small(project)
    fetched = tmp_path / project.downloads / "a.tgz"
    fetched.parent.mkdir(parents=True)
    fetched.write_bytes(b"x" * 1_000)
    assert resources.corpus_bytes(project, "en-de") == 1_000
    assert resources.is_small(project)


def test_a_step_that_failed_asks_for_more_the_next_time_within_the_limit():
    project, cluster = load_project({"scale": "smoke"}), resources.Cluster(runtime_limit=20)
    first, second = (resources.light(project, "en-de", cluster, attempt) for attempt in (1, 2))
    assert second.mem_mb == 2 * first.mem_mb
    assert first.runtime_min < second.runtime_min == 20


def translating(run=BASE, test_set="newstest2014", attempt=1, **overrides):
    project = load_project({"scale": "paper", **overrides})
    passes = inference.translation(project, run, test_set)
    cluster = resources.Cluster()
    return resources.running_models(project, passes, load_devices(ROOT), cluster, attempt)


def test_a_translation_asks_for_the_time_of_its_sentences_by_its_model():
    """3,003 sentences, counted by hand: a layer has 14 d^2 weights that a token of either side
    passes; a hypothesis has 30 + 50 tokens, a sentence 4 of them."""
    d, sources, targets = 512, 3003 * 30, 3003 * 4 * 80
    products = 6 * 14 * d**2 * (sources + targets) + 40_960 * d * targets
    scores = 6 * 2 * d * (sources * 30 + targets * (80 + 30))
    seconds = 2 * (products + scores) / (0.4 * 0.35 * 10.6e12)  # on a P100
    assert translating().runtime_min == 15 + math.ceil(2 * seconds / 60) == 17
    assert translating(Run("en-fr", "base", 1)) == translating()  # 8 times the corpus
    assert translating().runtime_min < translating(Run("en-de", "big", 1)).runtime_min < 30
    assert translating(device="cpu").runtime_min < 120
    assert translating(attempt=2).runtime_min == 2 * 17


def test_a_step_on_a_gpu_asks_for_what_cuda_and_the_weights_take():
    weights_mb = 4 * 65_000_000 / 2**20
    assert translating().mem_mb == pytest.approx(6_000 + 2 * weights_mb, rel=0.02)
    assert translating(attempt=2).mem_mb == 2 * translating().mem_mb


@pytest.mark.parametrize(
    ("scale", "test_set", "measured_mb"),
    [("smoke", "test", 283), ("demo", "test", 452), ("multi30k", "test_2016_flickr", 528)],
)
def test_memory_of_a_translation_on_a_cpu_covers_what_was_measured(scale, test_set, measured_mb):
    """The measured peaks are max_rss of results/<scale>/benchmarks/translate on an AMD EPYC."""
    asked = translating(test_set=test_set, scale=scale, device="cpu").mem_mb
    assert 1.3 * measured_mb < asked < 5 * measured_mb


def test_losses_take_as_long_as_all_models_of_the_pair_together():
    project, devices = load_project({"scale": "paper"}), load_devices(ROOT)
    passes = inference.losses(project, "en-de")
    assert len(passes) == 20
    alone = [inference.seconds(project, [each], devices["P100"]) for each in passes]
    assert inference.seconds(project, passes, devices["P100"]) == pytest.approx(sum(alone))
    asked = resources.running_models(project, passes, devices, resources.Cluster())
    assert 16 < asked.runtime_min < 60


def test_figures_of_other_stages_are_theirs():
    assert inference.LOSS_TOKENS == VALIDATION_TOKENS
    drawn = chosen_sentences([15 * "word "] * 40, "test")
    assert len(drawn) == inference.ATTENTION_SENTENCES


def test_a_set_has_no_more_sentences_than_its_scale_takes():
    paper, demo = load_project({"scale": "paper"}), load_project({"scale": "demo"})
    assert inference.count_sentences(paper, "en-de", "newstest2013") == 3000
    assert inference.count_sentences(demo, "en-de", "dev") == 400


def groups(limit):
    """Minutes of the text steps and of base's evaluation at scale smoke."""
    project, cluster = load_project({"scale": "smoke"}), resources.Cluster(runtime_limit=limit)
    devices = load_devices(ROOT)
    return (
        resources.text_group(project, "en-de", cluster),
        resources.evaluation_group(project, BASE, devices, cluster),
    )


def test_steps_that_share_a_job_stay_within_the_limit_even_one_after_another():
    for group in groups(limit=60):
        assert resources.MINUTES_AT_LEAST < sum(group) <= 60
        assert max(group) == resources.MINUTES_AT_LEAST + 1  # the last step's, for the start


def test_steps_whose_job_would_pass_the_limit_are_jobs_of_their_own():
    assert groups(limit=20) == ((), ())
    project = load_project({"scale": "paper"})
    assert not resources.text_group(project, "en-de", resources.Cluster())


def test_a_shared_job_that_failed_asks_for_more_only_within_the_limit():
    project = load_project({"scale": "smoke"})
    minutes = {}
    for limit in (60, 1440):
        group, cluster = groups(limit)[0], resources.Cluster(runtime_limit=limit)
        minutes[limit] = [
            resources.light(project, "en-de", cluster, attempt, group=group, last=True).runtime_min
            for attempt in (1, 2, 3)
        ]
    assert minutes == {60: [16, 16, 16], 1440: [16, 32, 48]}


def test_gpus_of_this_machine_are_the_drivers_devices(tmp_path):
    for name in ("nvidia0", "nvidia11", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / name).touch()
    assert resources.machine_gpus(tmp_path) == 2


def test_the_warning_comes_as_early_as_the_training_itself_would_stop():
    assert resources.WARNING_SECONDS == SECONDS_BEFORE_END


def test_a_profile_describes_its_cluster_in_words_or_numbers():
    """Snakemake hands over texts with and without quotes, and resources that are none of these."""
    given = {"gpu_type": "'a100'", "runtime_limit": "600", "training_nodes": 2, "mem_mb": 1000}
    cluster = resources.load_cluster(given)
    assert (cluster.gpu_type, cluster.runtime_limit, cluster.training_nodes) == ("a100", 600, 2)
    with pytest.raises(UserError, match=r"of the profile: runtime_limit: .*1d"):
        resources.load_cluster({"runtime_limit": "1d"})
