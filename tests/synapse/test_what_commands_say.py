"""What a terminal is told names the fault that there is, and the mode that is set."""

import pytest

from synapse import diagnosis
from vault.errors import SynapseError
from wiki import faults, startup


@pytest.mark.parametrize(("there", "fault"), [(False, faults.Fault.VAULT_GONE), (True, faults.Fault.TABLES_MISSING)])
def test_without_the_vaults_folder_no_command_asks_for_a_new_index(settings, tmp_path, monkeypatch, there, fault):
    if there:
        (tmp_path / "vault").mkdir()
    settings.SYNAPSE_VAULT = tmp_path / "vault"
    monkeypatch.setattr(startup, "_has_no_index", lambda: True)
    monkeypatch.setattr(startup.connection, "vendor", "sqlite")
    with pytest.raises(SynapseError) as refused:
        startup.require_tables()
    assert refused.value.message == faults.sentence(fault)


@pytest.mark.django_db
@pytest.mark.parametrize(("mode", "said"), [("true", "on"), ("staged", "staged"), ("false", "off")])
def test_doctor_says_which_mode_of_writing_is_set(settings, mode, said):
    settings.MCP_REMOTE_WRITE_ENABLED = mode
    (writing,) = [finding for finding in diagnosis._doors() if finding.name == "remote writing"]
    assert writing.text.split(":")[0] == said
