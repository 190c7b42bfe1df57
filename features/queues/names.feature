Feature: Queue names
  A name has 1 to 256 characters: letters and digits of any script, hyphen, underscore and full stop. Case matters.

  @BODY-022
  Scenario Outline: The name <name> is accepted
    When the client creates queue "<name>"
    Then the command succeeds
    And queue "<name>" has these properties:
      | name | <name> |

    Examples:
      | name              |
      | a                 |
      | 7                 |
      | orders.eu-west_2  |
      | Bestellungen-Köln |
      | заказы            |
      | 注文              |
      | طلبات٣            |

  @BODY-024 @BODY-032
  Scenario Outline: The name <name> is refused
    Given the client is connected
    When the client sends a CreateQueue with id "create" for queue "<name>"
    Then the client receives Error INVALID_MESSAGE with id "create"
    And the connection of the client stays open

    Examples:
      | name       |
      | or ders    |
      | orders/eu  |
      | orders*    |
      | orders😀   |
      | orders,new |

  @BODY-022
  Scenario: A name of 256 characters is accepted
    When the client creates a queue whose name has 256 letters
    Then the command succeeds

  @BODY-023
  Scenario: A name of 257 characters is refused
    When the client creates a queue whose name has 257 letters
    Then the command is refused with INVALID_MESSAGE

  @BODY-018
  Scenario: Names are case-sensitive
    Given queue "orders" exists
    When the client creates queue "Orders" with options:
      | maxQueueSize | 5 |
    Then the command succeeds
    And the list of queues is "Orders, orders"
