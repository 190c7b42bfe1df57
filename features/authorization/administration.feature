Feature: Admin commands
  A superuser creates users, gives them rights, and takes both back, with commands of the protocol.

  Background:
    Given a broker with users
    And user "alice" with password "pw"
    And the client is connected as user "vibemq" with password "super-secret"

  @AUTH-035 @AUTH-053
  Scenario: A user is created and can connect
    When the client sends AdminCreateUser about:
      | username | bob.the-2nd_größe |
      | password | b                 |
    Then the answer repeats:
      | username | bob.the-2nd_größe |
    Given client B has opened a connection
    When client B connects as user "bob.the-2nd_größe" with password "b"
    Then the command succeeds

  @AUTH-051
  Scenario: A password of 72 bytes is accepted
    When the client sends AdminCreateUser about:
      | username | bob                                                                      |
      | password | 123456789 123456789 123456789 123456789 123456789 123456789 123456789 12 |
    Then the command succeeds
    Given client B has opened a connection
    When client B connects as user "bob" with password "123456789 123456789 123456789 123456789 123456789 123456789 123456789 12"
    Then the command succeeds

  @AUTH-034 @AUTH-039 @AUTH-042
  Scenario: Rights are granted and shown by the names of their operations
    When the client sends AdminGrantPermission about:
      | username     | alice              |
      | queuePattern | orders.*           |
      | operations   | Publish, Subscribe |
    Then the answer repeats:
      | username     | alice              |
      | queuePattern | orders.*           |
      | operations   | Publish, Subscribe |
    When the client sends AdminGetUserPermissions about:
      | username | alice |
    Then the answer lists these rights:
      | pattern  | operations         |
      | orders.* | Publish, Subscribe |

  @AUTH-040
  Scenario: Rights are revoked
    Given user "alice" is granted "Publish" on "orders.*"
    When the client sends AdminRevokePermission about:
      | username     | alice    |
      | queuePattern | orders.* |
    Then the answer repeats:
      | username     | alice    |
      | queuePattern | orders.* |
    When the client sends AdminGetUserPermissions about:
      | username | alice |
    Then the answer lists no rights

  @AUTH-041
  Scenario: The users are listed
    When the client sends AdminListUsers without payload
    Then the answer lists these users:
      | username | isSuperuser |
      | vibemq   | true        |
      | alice    | false       |

  @AUTH-043 @AUTH-044
  Scenario: A user may ask for its own rights, and an unknown user has none
    Given client A is connected as user "alice" with password "pw"
    When client A sends AdminGetUserPermissions about:
      | username | alice |
    Then the answer lists no rights
    When the client sends AdminGetUserPermissions about:
      | username | nobody |
    Then the answer lists no rights

  @AUTH-045
  Scenario Outline: <command> is for superusers
    Given client A is connected as user "alice" with password "pw"
    When client A sends <command> about:
      | username     | <about>   |
      | password     | x         |
      | newPassword  | x         |
      | queuePattern | *         |
      | operations   | Publish   |
    Then the command is refused with NOT_AUTHORIZED

    Examples:
      | command                 | about  |
      | AdminCreateUser         | bob    |
      | AdminDeleteUser         | alice  |
      | AdminChangePassword     | vibemq |
      | AdminGrantPermission    | alice  |
      | AdminRevokePermission   | alice  |
      | AdminListUsers          | alice  |
      | AdminGetUserPermissions | vibemq |

  @AUTH-047
  Scenario Outline: <command> without payload is refused
    When the client sends <command> without payload
    Then the command is refused with INVALID_PAYLOAD

    Examples:
      | command                 |
      | AdminCreateUser         |
      | AdminDeleteUser         |
      | AdminChangePassword     |
      | AdminGrantPermission    |
      | AdminRevokePermission   |
      | AdminGetUserPermissions |

  @AUTH-048
  Scenario: A user that exists is not created again
    When the client sends AdminCreateUser about:
      | username | alice |
      | password | other |
    Then the command is refused with USER_EXISTS
    Given client A has opened a connection
    When client A connects as user "alice" with password "pw"
    Then the command succeeds

  @AUTH-049
  Scenario Outline: <command> for an unknown user is refused
    When the client sends <command> about:
      | username     | nobody  |
      | newPassword  | x       |
      | queuePattern | *       |
      | operations   | Publish |
    Then the command is refused with USER_NOT_FOUND

    Examples:
      | command               |
      | AdminDeleteUser       |
      | AdminChangePassword   |
      | AdminGrantPermission  |
      | AdminRevokePermission |

  @AUTH-050
  Scenario: A superuser cannot be deleted
    When the client sends AdminDeleteUser about:
      | username | vibemq |
    Then the command is refused with FORBIDDEN

  @AUTH-052
  Scenario Outline: A password <fault> is refused
    When the client sends AdminCreateUser about:
      | username | bob        |
      | password | <password> |
    Then the command is refused with INVALID_PAYLOAD

    Examples:
      | fault         | password                                                                  |
      | of no bytes   |                                                                           |
      | of 73 bytes   | 123456789 123456789 123456789 123456789 123456789 123456789 123456789 123 |
      | of 37 letters of two bytes each | ééééééééééééééééééééééééééééééééééééé |
